// Who was treated as they could expect: finish-time fairness of jobs, Jain's index over users and
// tenants. docs/metrics.md has the definitions and their sources.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "env/sim/columns.h"
#include "env/sim/pacing.h"
#include "env/trace/job.h"

namespace yard {

// Themis' rho of scored jobs that ended: JCT over the JCT in a cluster of one's own with 1/N of the
// GPUs, N the mean number of jobs in the system while the job was.
struct FinishTimeFairness {
  int64_t jobs = 0;
  double mean = 0, p95 = 0, max = 0;
  double unfair_share = 0;  // of the jobs: rho above 1
};

struct Fairness {
  std::optional<FinishTimeFairness> finish_time;  // empty where no job ended
  std::optional<double> jain_users;               // empty where the trace names fewer than two
  std::optional<double> jain_tenants;
};

// Requires: `alone_us` (run_alone() of metrics.h) and `outcome` tell of trace.jobs, in their order.
Fairness fairness_of(const Trace& trace, const Fixed& fixed, const std::vector<int64_t>& alone_us,
                     const Outcome& outcome);

}  // namespace yard
