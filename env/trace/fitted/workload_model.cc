#include "env/trace/fitted/workload_model.h"

#include <algorithm>
#include <cmath>

#include "env/base/core/error.h"
#include "env/base/text/text.h"
#include "env/trace/fitted/workload_sampling.h"

namespace yard {
namespace {

constexpr double kDayS = 24 * 3600;
constexpr double kMaxJobs = 1e7;
constexpr double kMaxDays = 36'500;

int64_t number_of_jobs(const WorkloadModel& model, const SampleOptions& options) {
  if (options.jobs > 0) return options.jobs;
  if (options.days <= 0) return model.jobs;
  double rate = static_cast<double>(model.jobs) / (model.to_s - model.from_s);
  if (options.load > 0) rate = options.load * options.cluster_gpus / model.mean_gpu_s;
  return std::max<int64_t>(1, std::llround(std::min(rate * options.days * kDayS, 2 * kMaxJobs)));
}

void check(const WorkloadModel& model, const SampleOptions& options) {
  const auto expect = [](bool holds, const std::string& expected, const std::string& got) {
    if (!holds) throw InputError("synthetic:like", expected, got);
  };
  expect(options.jobs == 0 || options.days == 0, "either a number of jobs or of days", "both");
  expect(options.jobs >= 0, "at least one job", std::to_string(options.jobs));
  expect(options.days >= 0 && options.days <= kMaxDays, "0 to 36500 days", shortest(options.days));
  expect(options.load >= 0 && options.load <= 1000, "a load from 0 to 1000",
         shortest(options.load));
  expect(options.load == 0 || options.cluster_gpus > 0, "a cluster for the load", "none");
  expect(options.load == 0 || model.mean_gpu_s > 0, "a model with GPU time, for the load", "none");
  const int64_t jobs = number_of_jobs(model, options);
  expect(static_cast<double>(jobs) <= kMaxJobs, "at most 10 million jobs", std::to_string(jobs));
}

}  // namespace

std::vector<Job> sample_workload(const WorkloadModel& model, const SampleOptions& options) {
  check_workload_model(model, "synthetic:like");
  check(model, options);
  const Rng seed(options.seed);
  std::vector<Job> jobs(static_cast<size_t>(number_of_jobs(model, options)));
  const auto number = static_cast<double>(jobs.size());
  const double offered_gpus = options.load * options.cluster_gpus;
  double span_s = options.days * kDayS;
  if (options.load > 0) {
    span_s = number * model.mean_gpu_s / offered_gpus;
  } else if (span_s == 0) {
    span_s = (model.to_s - model.from_s) * number / static_cast<double>(model.jobs);
  }
  const auto fill = [&] {
    const ArrivalTimeMap times(model, std::max(span_s, 1.0), seed);
    BatchPlan plan =
        plan_batches(model, static_cast<int64_t>(jobs.size()), options.cluster_gpus, times, seed);
    fill_jobs(model, plan, seed, jobs);
    return plan;
  };
  BatchPlan plan = fill();
  const auto update_span = [&] {
    double work_gpu_s = 0;
    for (const Job& job : jobs) work_gpu_s += static_cast<double>(job.run_us) * 1e-6 * job.gpus;
    span_s = work_gpu_s / offered_gpus;
  };
  if (options.load > 0) {
    // The span follows from the jobs, and the numbers of jobs of batches depend on the span.
    update_span();
    if (model.batch_jobs_level > 0) {
      std::ranges::fill(jobs, Job());
      plan = fill();
      update_span();
    }
  }
  place_jobs(model, plan, ArrivalTimeMap(model, std::max(span_s, 1.0), seed), seed, jobs);
  std::ranges::stable_sort(jobs, {}, &Job::submit_us);
  for (size_t j = 0; j < jobs.size(); ++j) jobs[j].id = std::to_string(j);
  return jobs;
}

}  // namespace yard
