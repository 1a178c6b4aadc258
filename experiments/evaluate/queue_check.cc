#include "experiments/evaluate/queue_check.h"

#include <algorithm>

#include "env/base/os/interrupt.h"
#include "env/sim/placement/fits.h"
#include "experiments/replay/congestion.h"
#include "experiments/replay/replay.h"

namespace yard {
namespace {

struct QueueCase {
  Trace trace;
  Window window;
};

QueueCase case_of(std::vector<Job> jobs, int64_t from_us, int64_t to_us,
                  const ClusterSpec& cluster) {
  QueueCase out;
  out.trace.source = "part";
  out.trace.jobs = std::move(jobs);
  check_jobs_fit_cluster(out.trace, cluster, true);
  out.window = {from_us, from_us, to_us, static_cast<int64_t>(out.trace.jobs.size())};
  return out;
}

QueueCase to_load(QueueCase one, const ClusterSpec& cluster, double load) {
  scale_arrivals(one.trace, one.window,
                 offered_load(one.trace, one.window, cluster.total_gpus()) / load);
  return one;
}

QueueStatistics run_case(const QueueCase& one, const ClusterSpec& cluster,
                         const std::string& policy) {
  throw_if_interrupted();
  const Scenario scenario(one.trace, one.window, cluster, 1);
  Occupancy seen(cluster.total_gpus());
  RunOptions options;
  options.watch = [&](const SimModel&, const SimState& state) { seen.record_state(state); };
  const JctSummary all = run_policy(scenario, policy, options).summary.all;
  return {all.mean_wait_s, all.mean_jct_s, seen.figures(one.window.from_us, one.window.to_us)};
}

std::optional<QueueStatistics> logged(const QueueCase& one, const ClusterSpec& cluster) {
  const std::vector<Job>& jobs = one.trace.jobs;
  double wait_us = 0, jct_us = 0;
  for (const Job& job : jobs) {
    if (job.logged_start_us < 0 || job.logged_end_us < 0) return std::nullopt;
    wait_us += static_cast<double>(job.logged_start_us - job.submit_us);
    jct_us += static_cast<double>(job.logged_end_us - job.submit_us);
  }
  const double us = 1e6 * static_cast<double>(jobs.size());
  return QueueStatistics{
      wait_us / us, jct_us / us,
      logged_occupancy(jobs, cluster.total_gpus()).figures(one.window.from_us, one.window.to_us)};
}

}  // namespace

QueueingComparison compare_queueing(const TracePart& part,
                                    const std::vector<std::vector<Job>>& generated,
                                    const ClusterSpec& cluster, double congestion,
                                    const std::vector<std::string>& policies) {
  QueueingComparison out;
  QueueCase real = case_of(part.jobs, part.from_us, part.to_us, cluster);
  const bool scaled = congestion > 0;
  if (scaled) {
    const TraceOnCluster source{
        .trace = real.trace, .cluster = cluster, .faults = {}, .speeds = {}, .variation = {}};
    const ArrivalCalibration found = calibrate_arrivals(source, real.window, 1, congestion);
    scale_arrivals(real.trace, real.window, found.factor);
    out.congestion = found.congestion;
  } else {
    out.congestion = congestion_of(Scenario(real.trace, real.window, cluster, 1));
    out.logged = logged(real, cluster);
  }
  out.load = offered_load(real.trace, real.window, cluster.total_gpus());
  const auto at_checked_load = [&](QueueCase one) {
    return scaled ? to_load(std::move(one), cluster, out.load) : one;
  };

  const int64_t middle_us = part.from_us + (part.to_us - part.from_us) / 2;
  const auto half = std::ranges::partition_point(
      part.jobs, [&](const Job& job) { return job.submit_us < middle_us; });
  const QueueCase first =
      at_checked_load(case_of({part.jobs.begin(), half}, part.from_us, middle_us, cluster));
  const QueueCase second =
      at_checked_load(case_of({half, part.jobs.end()}, middle_us, part.to_us, cluster));
  std::vector<QueueCase> generated_cases;
  for (const std::vector<Job>& jobs : generated) {
    generated_cases.push_back(
        at_checked_load(case_of(jobs, 0, part.to_us - part.from_us, cluster)));
  }
  for (const std::string& policy : policies) {
    const auto run = [&](const QueueCase& one) { return run_case(one, cluster, policy); };
    QueueingComparisonRow& row = out.rows.emplace_back(
        QueueingComparisonRow{policy, run(real), run(first), run(second), {}});
    for (const QueueCase& one : generated_cases) row.generated.push_back(run(one));
  }
  return out;
}

}  // namespace yard
