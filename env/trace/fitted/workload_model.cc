#include "env/trace/fitted/workload_model.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "env/base/core/error.h"
#include "env/base/text/text.h"
#include "env/trace/fitted/workload_sampling.h"

namespace yard {
namespace {

// Checks parts of a model beyond the syntax and ranges of a file.
class Check {
 public:
  explicit Check(const std::string& where) : where_(where) {}

  void that(bool holds, const std::string& expected, const std::string& got) const {
    if (!holds) throw InputError(where_, expected, got);
  }
  void length(const std::string& what, size_t size, size_t expected) const {
    that(size == expected, what + " with " + std::to_string(expected) + " numbers",
         std::to_string(size));
  }
  void shares(const std::string& what, const std::vector<double>& shares) const {
    const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
    that(std::abs(sum - 1) < 1e-3, what + " that add up to 1", shortest_text(sum));
  }
  void at_most_1(const std::string& what, double sum) const {
    that(sum < 1 + 1e-6, what + " that add up to at most 1", shortest_text(sum));
  }
  void rising(const std::string& what, const Quantiles& q, bool optional = false) const {
    that(optional || !q.knots.empty(), what + " with knots", "none");
    that(std::ranges::is_sorted(q.knots), what + " with non-decreasing knots", "falling ones");
    that(q.body > 0, what + " with a body above 0", shortest_text(q.body));
  }

 private:
  const std::string& where_;
};

void check_sizes(const WorkloadModel& m, const Check& check) {
  std::vector<double> of_sizes;
  check.that(!m.classes.empty(), "at least one of 'classes'", "none");
  for (size_t c = 0; c < m.classes.size(); ++c) {
    const std::string what = "classes " + std::to_string(c + 1) + ": ";
    const SizeClass& one = m.classes[c];
    check.that(c == 0 || m.classes[c - 1].most_gpus < one.most_gpus, what + "rising most_gpus",
               std::to_string(one.most_gpus));
    check.at_most_1(what + "owner and batch", one.together.owner + one.together.batch);
    check.length(what + "apart", one.together.apart.size(), WorkloadModel::kRepeatSd.size());
    check.shares(what + "apart", one.together.apart);
    check.rising(what + "run_s", one.run_s);
    check.rising(what + "batch_jobs", one.batch_jobs);
    check.rising(what + "limit_s", one.limit_s, true);
  }
  for (const SizeShare& size : m.sizes) {
    of_sizes.push_back(size.share);
    check.that(size.gpus <= m.classes.back().most_gpus,
               "sizes of at most the last class's most_gpus, " +
                   std::to_string(m.classes.back().most_gpus),
               std::to_string(size.gpus));
  }
  check.shares("sizes", of_sizes);
}

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

void check_options(const WorkloadModel& model, const SampleOptions& options) {
  const std::string where = "synthetic:like";
  const Check check(where);
  check.that(options.jobs == 0 || options.days == 0, "either a number of jobs or of days", "both");
  check.that(options.jobs >= 0, "at least one job", std::to_string(options.jobs));
  check.that(options.days >= 0 && options.days <= kMaxDays, "0 to 36500 days",
             shortest_text(options.days));
  check.that(options.load >= 0 && options.load <= 1000, "a load from 0 to 1000",
             shortest_text(options.load));
  check.that(options.load == 0 || options.cluster_gpus > 0, "a cluster for the load", "none");
  check.that(options.load == 0 || model.mean_gpu_s > 0, "a model with GPU time, for the load",
             "none");
  const int64_t jobs = number_of_jobs(model, options);
  check.that(static_cast<double>(jobs) <= kMaxJobs, "at most 10 million jobs",
             std::to_string(jobs));
}

}  // namespace

std::vector<Job> sample_workload(const WorkloadModel& model, const SampleOptions& options) {
  check_workload_model(model, "synthetic:like");
  check_options(model, options);
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
    PlannedBatches plan =
        plan_batches(model, static_cast<int64_t>(jobs.size()), options.cluster_gpus, times, seed);
    fill_all_but_submission_times(model, plan, seed, jobs);
    return plan;
  };
  PlannedBatches plan = fill();
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
  set_submission_times(model, plan, ArrivalTimeMap(model, std::max(span_s, 1.0), seed), seed, jobs);
  sort_and_number(jobs);
  return jobs;
}

void check_workload_model(const WorkloadModel& m, const std::string& where) {
  const Check check(where);
  check.that(m.owner == "user" || m.owner == "tenant" || m.owner == "nobody",
             "owner 'user', 'tenant' or 'nobody'", "'" + m.owner + "'");
  check.that(m.to_s > m.from_s, "from_s below to_s", shortest_text(m.to_s));
  check.length("week", m.week.size(), WorkloadModel::kWeekHours);
  check.that(std::ranges::any_of(m.week, [](double w) { return w > 0; }),
             "arrivals in at least one hour of week", "none");
  check.that(m.newcomers > 0, "newcomers above 0", shortest_text(m.newcomers));
  check.length("memory", m.memory.size(), WorkloadModel::kMemory.size());
  check.at_most_1("memory", std::accumulate(m.memory.begin(), m.memory.end(), 0.0));
  if (!m.tenants.empty()) check.shares("tenants", m.tenants);
  check_sizes(m, check);
  check.at_most_1("size_habit's last and own", m.size_habit.last + m.size_habit.own);
  check.at_most_1("kind_habit's last and own", m.kind_habit.last + m.kind_habit.own);
  check.at_most_1("jobs_owner and jobs_level", m.batch_jobs_owner + m.batch_jobs_level);
  check.rising("gap_s", m.gap_s);
  check.that(std::ranges::is_sorted(m.limits_s), "usual_s in non-decreasing order",
             "falling values");
  if (!m.timeouts.empty()) check.length("timeouts", m.timeouts.size(), WorkloadModel::kLengths);
  check.length("statuses' shares", m.status_shares.size(),
               m.statuses.size() * WorkloadModel::kLengths);
}

}  // namespace yard
