// Deadline metrics: met and missed deadlines, tardiness, and value. A job's deadline is the last
// moment at which its end still has a value.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "env/sim/rulesets/rule_set.h"
#include "env/trace/core/job.h"

namespace yard {

struct DeadlineSummary {
  int64_t jobs = 0;  // scored jobs with a deadline
  int64_t met = 0;
  int64_t missed = 0;           // jobs whose deadline passed before they ended
  int64_t open = 0;             // unfinished jobs whose deadline is after the replay's end
  double mean_tardiness_s = 0;  // [s] mean over met (0 s) and missed jobs
  double max_tardiness_s = 0;   // [s] unfinished jobs are late up to the replay's end
  double value = 0;             // sum of the jobs' values at their ends
  double value_share = 0;       // `value` divided by the highest possible sum of values
};

// Returns the job's deadline on the trace's clock; kNever if the job has no deadline.
int64_t deadline_us(const Job& job);

// Returns the deadline metrics of all scored jobs, or nothing if none of them has a deadline.
std::optional<DeadlineSummary> deadlines_of(const Trace& trace, const Outcome& outcome);

// Summarises only the scored jobs among `jobs`, which are indexes into trace.jobs.
std::optional<DeadlineSummary> deadlines_of(const Trace& trace, const Outcome& outcome,
                                            const std::vector<size_t>& jobs);

}  // namespace yard
