#include "env/trace/generators/generator_common.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "env/base/files/file.h"
#include "env/base/text/text.h"

namespace yard {

size_t draw_by_weight(std::span<const double> weights, Rng& rng) {
  double left = rng.uniform() * std::accumulate(weights.begin(), weights.end(), 0.0);
  size_t last = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] <= 0) continue;
    last = i;
    if (left < weights[i]) break;
    left -= weights[i];
  }
  return last;
}

size_t WeightedSampler::operator()(Rng& rng) const {
  const double drawn = rng.uniform() * sums_.back();
  const auto it = std::ranges::upper_bound(sums_, drawn);
  return std::min(static_cast<size_t>(it - sums_.begin()), sums_.size() - 1);
}

void sort_and_number(std::vector<Job>& jobs) {
  std::ranges::stable_sort(jobs, {}, &Job::submit_us);
  for (size_t j = 0; j < jobs.size(); ++j) jobs[j].id = std::to_string(j);
}

void draw_uniform_arrivals(std::vector<Job>& jobs, double span_s, Rng rng) {
  for (Job& job : jobs) {
    job.submit_us = static_cast<int64_t>(std::floor(rng.uniform() * span_s)) * 1'000'000;
  }
  sort_and_number(jobs);
}

std::vector<double> shares_of_fitting_sizes(std::vector<double> shares, int cluster_gpus,
                                            double shortest_s, double longest_s,
                                            const std::string& where) {
  for (size_t i = 0; i < kGpuCounts.size(); ++i) {
    if (kGpuCounts[i] > cluster_gpus) shares[i] = 0;
  }
  if (std::accumulate(shares.begin(), shares.end(), 0.0) <= 0) {
    throw InputError(
        where, "a positive share (share_1 to share_16) of a size that fits the cluster", "none");
  }
  if (shortest_s > longest_s) {
    throw InputError(where, "shortest_s of at most longest_s (" + shortest_text(longest_s) + ")",
                     shortest_text(shortest_s));
  }
  return shares;
}

std::string hash_of_lines(const std::string& revision,
                          const std::vector<std::pair<std::string, std::string>>& parameters) {
  std::string lines = "revision=" + revision + "\n";
  for (const auto& [name, value] : parameters) lines += name + "=" + value + "\n";
  return sha256_hex(lines);
}

}  // namespace yard
