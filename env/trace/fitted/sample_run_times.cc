// Draws run times of jobs.
#include <algorithm>
#include <cmath>
#include <utility>

#include "env/base/core/normal.h"
#include "env/trace/fitted/fit_steps.h"
#include "env/trace/fitted/workload_sampling.h"

namespace yard {
namespace {

// Returns the normal parts of owners, normalised over jobs to mean 0 and variance 1. Otherwise a
// few busy owners would decide how long a seed's jobs are.
std::vector<double> owner_parts(const PlannedBatches& plan, const Rng& seed) {
  std::vector<double> weight(static_cast<size_t>(plan.owners)), part(weight.size());
  double sum = 0, sum_x = 0, sum_xx = 0;
  for (const PlannedBatch& batch : plan.batches) {
    weight[static_cast<size_t>(batch.owner)] += static_cast<double>(batch.end - batch.first);
  }
  for (size_t o = 0; o < part.size(); ++o) {
    part[o] = stream_of(seed, static_cast<int32_t>(o), OwnerStream::kRun).normal();
    sum += weight[o];
    sum_x += weight[o] * part[o];
  }
  for (size_t o = 0; o < part.size(); ++o) {
    part[o] -= sum_x / sum;
    sum_xx += weight[o] * part[o] * part[o];
  }
  for (double& x : part) x = sum_xx > 0 ? x / std::sqrt(sum_xx / sum) : 0;
  return part;
}

// Returns the range of recent siblings before job j; for a first job, of the previous batch.
std::pair<int64_t, int64_t> repeatable(const PlannedBatches& plan, const PlannedBatch& batch,
                                       int64_t j) {
  int64_t begin = batch.first, end = j;
  if (j == batch.first) {
    if (batch.before < 0) return {0, 0};
    begin = plan.batches[static_cast<size_t>(batch.before)].first;
    end = plan.batches[static_cast<size_t>(batch.before)].end;
  }
  return {std::max(begin, end - WorkloadModel::kRecent), end};
}

}  // namespace

RunTimeSampler::RunTimeSampler(const WorkloadModel& model, const PlannedBatches& plan,
                               const Rng& seed)
    : model_(model),
      plan_(plan),
      owner_part_(owner_parts(plan, seed)),
      batch_part_(plan.batches.size()),
      log_s_(static_cast<size_t>(plan.batches.back().end)),
      scores_(log_s_.size()) {}

double RunTimeSampler::draw_run_times(size_t b, Rng& rng) {
  const PlannedBatch& batch = plan_.batches[b];
  const SizeClass& of = class_of(model_, batch.gpus);
  const RunTimeSimilarity& t = of.together;
  batch_part_[b] = rng.normal();
  if (batch.before >= 0) {
    batch_part_[b] = t.stay * batch_part_[static_cast<size_t>(batch.before)] +
                     std::sqrt(1 - t.stay * t.stay) * batch_part_[b];
  }
  const double common = std::sqrt(t.owner) * owner_part_[static_cast<size_t>(batch.owner)] +
                        std::sqrt(t.batch) * batch_part_[b];
  const double own = std::sqrt(std::max(0.0, 1 - t.owner - t.batch));
  for (int64_t j = batch.first; j < batch.end; ++j) {
    const auto at = static_cast<size_t>(j);
    const auto [from, to] = repeatable(plan_, batch, j);
    const bool begins = j == batch.first;
    const bool repeats = rng.uniform() < (begins ? t.repeat_batch : t.repeat_sibling) && to > from;
    const double noise = rng.normal();
    if (repeats) {
      const bool last = !begins && rng.uniform() < t.repeat_last;
      const auto model =
          static_cast<size_t>(last ? to - 1 : from + rng.below(static_cast<uint32_t>(to - from)));
      scores_[at] = scores_[model];
      const double sd = WorkloadModel::kRepeatSd[draw_by_share(t.apart, rng)];
      log_s_[at] = std::max(0.0, log_s_[model] + sd * noise);
    } else {
      scores_[at] = common + own * noise;
      log_s_[at] = std::log1p(std::min(of.run_s.at(clamped_normal_cdf(scores_[at])), kMaxSampledS));
    }
  }
  return common;
}

double RunTimeSampler::seconds(int64_t job) const {
  const double s = std::min(std::expm1(log_s_[static_cast<size_t>(job)]), kMaxSampledS);
  return std::round(s / model_.step_s) * model_.step_s;
}

}  // namespace yard
