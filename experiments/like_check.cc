#include "experiments/like_check.h"

#include <algorithm>

#include "env/base/interrupt.h"
#include "env/sim/fits.h"
#include "env/trace/window.h"
#include "experiments/congestion.h"
#include "experiments/replay.h"
#include "experiments/scenario.h"

namespace yard {
namespace {

struct Case {
  Trace trace;
  Window window;
};

// All of the jobs, without those that never fit the cluster.
Case case_of(std::vector<Job> jobs, int64_t from_us, int64_t to_us, const ClusterSpec& cluster) {
  Case out;
  out.trace.source = "part";
  out.trace.jobs = std::move(jobs);
  check_fits(out.trace, cluster, true);
  out.window = {from_us, from_us, to_us, static_cast<int64_t>(out.trace.jobs.size())};
  return out;
}

Case to_load(Case one, const ClusterSpec& cluster, double load) {
  scale_arrivals(one.trace, one.window,
                 offered_load(one.trace, one.window, cluster.total_gpus()) / load);
  return one;
}

QueueFigures play(const Case& one, const ClusterSpec& cluster, const std::string& policy) {
  throw_if_interrupted();
  const Scenario scenario(one.trace, one.window, cluster, 1);
  const JctSummary all = run_policy(scenario, policy, {}).summary.all;
  return {all.mean_wait_s, all.mean_jct_s};
}

}  // namespace

QueueCheck check_queues(const FitPart& part, const std::vector<std::vector<Job>>& generated,
                        const ClusterSpec& cluster, double congestion,
                        const std::vector<std::string>& policies) {
  QueueCheck out;
  Case real = case_of(part.jobs, part.from_us, part.to_us, cluster);
  const Calibration found = calibrate(real.trace, real.window, cluster, congestion);
  scale_arrivals(real.trace, real.window, found.factor);
  out.congestion = found.congestion;
  out.load = offered_load(real.trace, real.window, cluster.total_gpus());

  const int64_t middle_us = part.from_us + (part.to_us - part.from_us) / 2;
  const auto half = std::ranges::partition_point(
      part.jobs, [&](const Job& job) { return job.submit_us < middle_us; });
  const Case first = to_load(case_of({part.jobs.begin(), half}, part.from_us, middle_us, cluster),
                             cluster, out.load);
  const Case second =
      to_load(case_of({half, part.jobs.end()}, middle_us, part.to_us, cluster), cluster, out.load);
  std::vector<Case> like;
  for (const std::vector<Job>& jobs : generated) {
    like.push_back(
        to_load(case_of(jobs, 0, part.to_us - part.from_us, cluster), cluster, out.load));
  }
  for (const std::string& policy : policies) {
    QueueRow row{policy,
                 play(real, cluster, policy),
                 play(first, cluster, policy),
                 play(second, cluster, policy),
                 {}};
    for (const Case& one : like) row.generated.push_back(play(one, cluster, policy));
    out.rows.push_back(std::move(row));
  }
  return out;
}

}  // namespace yard
