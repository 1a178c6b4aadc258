// Fills the fields of generated jobs: run times, sizes, owners, limits, statuses and kinds.
#include <algorithm>
#include <array>
#include <cmath>

#include "env/base/core/normal.h"
#include "env/base/os/interrupt.h"
#include "env/trace/fitted/fit_steps.h"
#include "env/trace/fitted/workload_sampling.h"

namespace yard {
namespace {

int64_t us_of(double s) { return std::llround(std::min(s, kMaxSampledS) * 1e6); }

// Returns the usual limit of at least `run_s` nearest to `s`; without one, whole minutes.
double limit_of(const WorkloadModel& model, double s, double run_s) {
  const std::vector<double>& usual = model.limits_s;
  constexpr double kMinuteS = 60;
  const auto fits = std::ranges::lower_bound(usual, run_s);
  if (fits == usual.end()) return kMinuteS * std::ceil(std::max(s, run_s) / kMinuteS);
  auto near = std::lower_bound(fits, usual.end(), s);
  if (near == usual.end() || (near != fits && s - near[-1] < *near - s)) --near;
  return *near;
}

// Returns the usual limit nearest to `s`, by ratio. Requires: there are usual limits.
double usual_near(const std::vector<double>& usual, double s) {
  const auto above = std::ranges::lower_bound(usual, s);
  if (above == usual.end()) return usual.back();
  if (above == usual.begin()) return usual.front();
  return s / above[-1] < *above / s ? above[-1] : *above;
}

class Extras {
 public:
  Extras(const WorkloadModel& model, const Rng& seed) : model_(model), seed_(seed) {}

  // Returns the limit that a batch asks for, before it is fitted to its jobs; -1: none.
  double limit_s(const PlannedBatch& batch, double common, Rng& rng) const {
    const Quantiles& limit = class_of(model_, batch.gpus).limit_s;
    if (limit.knots.empty()) return -1;
    const RunTimeSimilarity& together = class_of(model_, batch.gpus).together;
    const double part = together.owner + together.batch;
    const double with = model_.limit_with_run;
    const double own = stream_of(seed_, batch.owner, OwnerStream::kLimit).normal();
    const double rest =
        std::sqrt(model_.limit_owner) * own + std::sqrt(1 - model_.limit_owner) * rng.normal();
    return limit.at(clamped_normal_cdf(with * (part > 0 ? common / std::sqrt(part) : 0) +
                                       std::sqrt(1 - with * with) * rest));
  }

  // Gives the job a limit. If the job reaches it, its run time becomes the limit. `timeout_draw` is
  // 0 to 1 and common to a batch, since siblings time out together.
  void set_limit(double limit_s, double score, double timeout_draw, Job& job) const {
    const double run_s = static_cast<double>(job.run_us) * 1e-6;
    if (!model_.timeouts.empty() && !model_.limits_s.empty() &&
        timeout_draw < model_.timeouts[run_time_decile(score)]) {
      job.limit_us = job.run_us = us_of(usual_near(model_.limits_s, run_s));
    } else {
      job.limit_us = us_of(limit_of(model_, limit_s, run_s));
    }
  }

  const std::string& status(double score, Rng& rng) const {
    const size_t n = model_.statuses.size();
    const std::span<const double> shares = model_.status_shares;
    return model_.statuses[draw_by_share(shares.subspan(run_time_decile(score) * n, n), rng)];
  }

  std::string tenant(int32_t owner) const {
    if (model_.owner == "tenant") return "tenant" + std::to_string(owner + 1);
    if (model_.tenants.empty()) return "";
    Rng rng = stream_of(seed_, owner, OwnerStream::kTenant);
    return "tenant" + std::to_string(draw_by_share(model_.tenants, rng) + 1);
  }

  void set_kind(int32_t kind, Job& job) const {
    if (kind < 0) return;
    const JobRequirements& needs = model_.kinds[static_cast<size_t>(kind)];
    job.model = needs.model;
    job.batch_size = needs.batch_size;
    job.gpu_types = needs.gpu_types;
    job.groups = needs.groups;
    if (needs.iteration_ms <= 0) return;
    job.iteration_ms = needs.iteration_ms;
    job.iterations =
        std::max(1.0, std::round(static_cast<double>(job.run_us) * 1e-3 / needs.iteration_ms));
  }

 private:
  const WorkloadModel& model_;
  const Rng& seed_;
};

}  // namespace

size_t draw_by_share(std::span<const double> shares, Rng& rng) {
  double left = rng.uniform();
  size_t k = 0;
  while (k + 1 < shares.size() && left >= shares[k]) left -= shares[k++];
  return k;
}

size_t run_time_decile(double score) {
  return static_cast<size_t>(clamped_normal_cdf(score) * WorkloadModel::kLengths);
}

void fill_all_but_submission_times(const WorkloadModel& model, const PlannedBatches& plan,
                                   const Rng& seed, std::vector<Job>& jobs) {
  RunTimeSampler run(model, plan, seed);
  const Extras extras(model, seed);
  for (size_t b = 0; b < plan.batches.size(); ++b) {
    throw_if_interrupted();
    const PlannedBatch& batch = plan.batches[b];
    Rng rng = stream_of(seed, SampleStream::kJobs).split(b);
    const double common = run.draw_run_times(b, rng);
    const double limit_s = extras.limit_s(batch, common, rng);
    const double timeout_draw = rng.uniform();
    for (int64_t j = batch.first; j < batch.end; ++j) {
      Job& job = jobs[static_cast<size_t>(j)];
      job.run_us = us_of(run.seconds(j));
      job.gpus = batch.gpus;
      if (model.owner == "user") job.user = "user" + std::to_string(batch.owner + 1);
      job.tenant = extras.tenant(batch.owner);
      if (!model.statuses.empty()) job.status = extras.status(run.score(j), rng);
      if (limit_s >= 0) extras.set_limit(limit_s, run.score(j), timeout_draw, job);
      extras.set_kind(batch.kind, job);
    }
  }
}

}  // namespace yard
