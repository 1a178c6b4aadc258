#include "env/sim/metrics/fairness.h"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "env/base/core/check.h"
#include "env/base/core/nearest_rank.h"

namespace yard {
namespace {

// Integral of the number of jobs in the system over time.
class InSystem {
 public:
  InSystem(const Trace& trace, const Outcome& outcome) : begin_us_(outcome.begin_us) {
    for (size_t j = 0; j < trace.jobs.size(); ++j) {
      arrivals_.push_back(trace.jobs[j].submit_us);
      if (outcome.jobs[j].end_us != kNone) ends_.push_back(outcome.jobs[j].end_us);
    }
    std::sort(arrivals_.begin(), arrivals_.end());
    std::sort(ends_.begin(), ends_.end());
    arrival_sum_s_ = sums(arrivals_);
    end_sum_s_ = sums(ends_);
  }

  // Returns the integral from the beginning to `at_us`, in job-seconds.
  double until(int64_t at_us) const {
    return elapsed_since(arrivals_, arrival_sum_s_, at_us) -
           elapsed_since(ends_, end_sum_s_, at_us);
  }

 private:
  double seconds(int64_t us) const { return static_cast<double>(us - begin_us_) / 1e6; }

  std::vector<double> sums(const std::vector<int64_t>& times_us) const {
    std::vector<double> out{0};
    for (const int64_t at_us : times_us) out.push_back(out.back() + seconds(at_us));
    return out;
  }

  // Returns the sum of (at - t) over all times t up to `at`, in seconds.
  double elapsed_since(const std::vector<int64_t>& times_us, const std::vector<double>& sum_s,
                       int64_t at_us) const {
    const auto n = static_cast<size_t>(std::upper_bound(times_us.begin(), times_us.end(), at_us) -
                                       times_us.begin());
    return static_cast<double>(n) * seconds(at_us) - sum_s[n];
  }

  int64_t begin_us_;
  std::vector<int64_t> arrivals_, ends_;           // sorted
  std::vector<double> arrival_sum_s_, end_sum_s_;  // prefix sums
};

// GPU-seconds received by a user's or tenant's jobs, and requested while they were in the system.
struct Service {
  double received_gpu_s = 0, requested_gpu_s = 0;
};

// Jain's index: J = (sum x)^2 / (n sum x^2), where x is received divided by requested GPU-seconds.
std::optional<double> jain(const std::unordered_map<std::string, Service>& services) {
  if (services.size() < 2) return std::nullopt;
  double sum = 0, squares = 0;
  for (const auto& [name, service] : services) {
    const double x =
        service.requested_gpu_s > 0 ? service.received_gpu_s / service.requested_gpu_s : 1;
    sum += x;
    squares += x * x;
  }
  if (squares == 0) return std::nullopt;
  return sum * sum / (static_cast<double>(services.size()) * squares);
}

}  // namespace

Fairness fairness_of(const Trace& trace, const SimModel& fixed,
                     const std::vector<int64_t>& isolated_us, const Outcome& outcome) {
  YARD_CHECK(outcome.jobs.size() == trace.jobs.size(), "the outcome is of another trace");
  const InSystem in_system(trace, outcome);
  const double gpus = fixed.spec.total_gpus;
  std::unordered_map<std::string, Service> users, tenants;
  std::vector<double> rhos;
  FinishTimeFairness finish;
  for (size_t j = 0; j < trace.jobs.size(); ++j) {
    const Job& job = trace.jobs[j];
    const int64_t end_us = outcome.jobs[j].end_us;
    if (!job.scored || end_us == kNone) continue;
    const double jct_s = static_cast<double>(end_us - job.submit_us) / 1e6;
    const double run_s = static_cast<double>(isolated_us[j]) / 1e6;
    const int32_t weight = std::max(job.gpus, 1);
    for (auto& [name, all] : {std::pair{&job.user, &users}, std::pair{&job.tenant, &tenants}}) {
      if (name->empty()) continue;
      Service& service = (*all)[*name];
      service.received_gpu_s += weight * run_s;
      service.requested_gpu_s += weight * jct_s;
    }
    if (jct_s <= 0 || run_s <= 0) continue;
    const double mean_jobs = (in_system.until(end_us) - in_system.until(job.submit_us)) / jct_s;
    // With fewer GPUs than requested, a job takes proportionally longer.
    const double alone_s = run_s * std::max(1.0, job.gpus * mean_jobs / gpus);
    rhos.push_back(jct_s / alone_s);
    finish.unfair_share += rhos.back() > 1 + 1e-9 ? 1 : 0;  // 1e-9: rounding errors
  }
  Fairness out{.jain_users = jain(users), .jain_tenants = jain(tenants)};
  if (rhos.empty()) return out;
  const auto n = static_cast<double>(rhos.size());
  finish.jobs = static_cast<int64_t>(rhos.size());
  for (const double rho : rhos) finish.mean += rho / n;
  finish.p95 = nearest_rank_quantile(rhos, 0.95);
  finish.max = nearest_rank_quantile(rhos, 1);
  finish.unfair_share /= n;
  out.finish_time = finish;
  return out;
}

}  // namespace yard
