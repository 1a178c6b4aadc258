#include "experiments/stats/mean_by_time.h"

#include <algorithm>
#include <cmath>

#include "env/base/core/check.h"
#include "experiments/stats/moments.h"

namespace yard {
namespace {

constexpr size_t kMaxTimeBlocks = 24, kMinTimeBlocks = 6, kJobsPerTimeBlock = 10;

double sd_of(std::span<const double> values) {
  if (values.size() < 2) return 0;
  const double centre = mean(values);
  double squares = 0;
  for (const double v : values) squares += (v - centre) * (v - centre);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

}  // namespace

MeanWithBlockInterval mean_with_block_interval(const std::vector<std::vector<double>>& values,
                                               double other_sd) {
  YARD_CHECK(!values.empty() && !values[0].empty(), "a mean needs values");
  const size_t draws = values.size(), jobs = values[0].size();
  std::vector<double> of_job(jobs, 0), log_mean;  // (J), (D)
  for (const std::vector<double>& draw : values) {
    for (size_t j = 0; j < jobs; ++j) of_job[j] += draw[j] / static_cast<double>(draws);
    log_mean.push_back(std::log(mean(draw)));
  }
  MeanWithBlockInterval out;
  out.mean = mean(of_job);
  out.jobs = static_cast<int64_t>(jobs);
  out.draw_sd = sd_of(log_mean);
  const size_t blocks = std::min(kMaxTimeBlocks, jobs / kJobsPerTimeBlock);
  out.interval = {NAN, NAN};
  if (blocks < 2) return out;
  std::vector<double> sum(blocks, 0), count(blocks, 0);
  for (size_t j = 0; j < jobs; ++j) {
    sum[j * blocks / jobs] += of_job[j];
    count[j * blocks / jobs] += 1;
  }
  const auto correlated = [&] {
    std::vector<double> means;
    for (size_t b = 0; b < sum.size(); ++b) means.push_back(sum[b] / count[b]);
    return lag1_correlation(means) > kMaxCorrelation;
  };
  while (sum.size() >= 2 * kMinTimeBlocks && correlated()) {
    sum = merge_pairs(sum);
    count = merge_pairs(count);
  }
  out.blocks = static_cast<int>(sum.size());
  const Statistic statistic = [&](const SampledIndices& picks) {
    return std::log(sum_of_picked(sum, picks[0]) / sum_of_picked(count, picks[0]));
  };
  const Interval by_blocks = jackknife_interval({out.blocks}, statistic, kConfidence);
  const double half = (by_blocks.hi - by_blocks.lo) / 2;
  // The mean of the draws has an error of its own, and the truth deviates like one more draw.
  const double of_draws =
      draws < 2 ? 0
                : student_quantile((1 + kConfidence) / 2, static_cast<double>(draws - 1)) *
                      out.draw_sd * std::sqrt(1 + 1 / static_cast<double>(draws));
  const double whole = std::sqrt(half * half + of_draws * of_draws + std::pow(1.96 * other_sd, 2));
  out.interval = {out.mean * std::exp(-whole), out.mean * std::exp(whole)};
  return out;
}

}  // namespace yard
