// Fairness metrics: finish-time fairness of jobs, and Jain's index over users and over tenants.
// Definitions and sources: docs/reference/metrics.md.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "env/sim/rulesets/rule_set.h"
#include "env/sim/state/columns.h"
#include "env/trace/core/job.h"

namespace yard {

// Rho (Themis, NSDI 2020) of the scored jobs which ended: JCT divided by the JCT in a private
// cluster with 1/N of the GPUs. N is the mean number of jobs in the system during the job.
struct FinishTimeFairness {
  int64_t jobs = 0;
  double mean = 0, p95 = 0, max = 0;
  double unfair_share = 0;  // share of jobs with rho above 1
};

struct Fairness {
  std::optional<FinishTimeFairness> finish_time = {};  // empty where no job ended
  // Jain's index, 1/n to 1; empty with fewer than two users or tenants.
  std::optional<double> jain_users, jain_tenants;
};

// Requires: `isolated_us` (isolated_run_us()) and `outcome` describe trace.jobs in order.
Fairness fairness_of(const Trace& trace, const SimModel& fixed,
                     const std::vector<int64_t>& isolated_us, const Outcome& outcome);

}  // namespace yard
