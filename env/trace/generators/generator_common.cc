#include "env/trace/generators/generator_common.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "env/base/files/file.h"

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

void spread_arrivals(std::vector<Job>& jobs, double span_s, Rng rng) {
  for (Job& job : jobs) {
    job.submit_us = static_cast<int64_t>(std::floor(rng.uniform() * span_s)) * 1'000'000;
  }
  std::ranges::stable_sort(jobs, {}, &Job::submit_us);
  for (size_t j = 0; j < jobs.size(); ++j) jobs[j].id = std::to_string(j);
}

std::string hash_of_parameters(const std::string& revision,
                               const std::vector<std::pair<std::string, std::string>>& parameters) {
  std::string lines = "revision=" + revision + "\n";
  for (const auto& [name, value] : parameters) lines += name + "=" + value + "\n";
  return sha256_hex(lines);
}

}  // namespace yard
