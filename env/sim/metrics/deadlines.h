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
  int64_t missed = 0;           // ended late, or unfinished at a replay end past the deadline
  int64_t open = 0;             // unfinished when the replay ended before the deadline
  double mean_tardiness_s = 0;  // [s] over met and missed jobs; at least 0 each
  double max_tardiness_s = 0;   // [s] an unfinished job counts up to the replay's end
  double value = 0;             // sum of the jobs' values at their ends
  double value_share = 0;       // `value` as a share of the highest possible
};

// Returns the job's deadline on the trace's clock; kNever if it has none.
int64_t deadline_us(const Job& job);

// Returns the summary, or nothing if no scored job has a deadline.
std::optional<DeadlineSummary> deadlines_of(const Trace& trace, const Outcome& outcome);

// Summarises only the given jobs of the trace, by index.
std::optional<DeadlineSummary> deadlines_of(const Trace& trace, const Outcome& outcome,
                                            const std::vector<size_t>& jobs);

}  // namespace yard
