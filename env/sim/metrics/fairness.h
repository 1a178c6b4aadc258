// Fairness metrics: finish-time fairness of jobs, and Jain's index over users and over tenants.
// docs/reference/metrics.md defines the fairness metrics and names their sources.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "env/sim/rulesets/rule_set.h"
#include "env/sim/state/columns.h"
#include "env/trace/core/job.h"

namespace yard {

// Rho (Themis, NSDI 2020) of the scored jobs which ended: a job's JCT divided by its JCT alone with
// 1/N of the GPUs, where N is the mean number of jobs in the system during the job's life.
struct FinishTimeFairness {
  int64_t jobs = 0;
  double mean = 0, p95 = 0, max = 0;
  double unfair_share = 0;  // share of jobs with rho above 1
};

struct Fairness {
  std::optional<FinishTimeFairness> finish_time = {};  // empty if no scored job ended
  // Jain's fairness index, from 1/n to 1 for n users or tenants; empty if n < 2.
  std::optional<double> jain_users, jain_tenants;
};

// Requires: `isolated_us`, from isolated_run_us(), and `outcome` describe trace.jobs in order.
Fairness fairness_of(const Trace& trace, const SimModel& fixed,
                     const std::vector<int64_t>& isolated_us, const Outcome& outcome);

}  // namespace yard
