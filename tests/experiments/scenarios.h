// Makes scenarios of given jobs, for tests of what a replay reports.
#pragma once

#include <vector>

#include "experiments/scenario/scenario.h"
#include "tests/support/random_world.h"

namespace yard::testing {

inline Scenario scenario_of(const std::vector<Job>& jobs, const ClusterSpec& cluster) {
  Trace trace;
  trace.jobs = jobs;
  return Scenario(trace, Window{.scored = static_cast<int64_t>(jobs.size())}, cluster, 1);
}

// Includes the faults of `world`.
inline Scenario scenario_of(const RandomWorld& world) {
  Scenario scenario = scenario_of(world.jobs, world.cluster);
  FaultPlan plan;
  plan.recorded = world.faults;
  if (!world.faults.empty()) scenario.inject_faults(plan, Rng(1));
  return scenario;
}

}  // namespace yard::testing
