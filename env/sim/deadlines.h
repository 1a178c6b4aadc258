// What became of jobs that were due: in time, late, or for nothing. A job's deadline is the last
// moment at which its end is still worth something.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "env/sim/pacing.h"
#include "env/trace/job.h"

namespace yard {

struct DeadlineSummary {
  int64_t jobs = 0;  // scored jobs that have one
  int64_t met = 0;
  int64_t missed = 0;           // ended later, or had not when the replay ended after the deadline
  int64_t open = 0;             // neither: the replay ended before
  double mean_tardiness_s = 0;  // [s] over all that ended or missed; at least 0 each
  double max_tardiness_s = 0;   // [s] of one that did not end: up to the replay's end
  double value = 0;             // of the moments at which they ended
  double value_share = 0;       // of what all of them were worth at best
};

// When the job's end is worth nothing any more, on the trace's clock; kNever where it has no
// deadline.
int64_t deadline_us(const Job& job);

// Empty where no scored job has a deadline.
std::optional<DeadlineSummary> deadlines_of(const Trace& trace, const Outcome& outcome);

// The same for some of its jobs, by index.
std::optional<DeadlineSummary> deadlines_of(const Trace& trace, const Outcome& outcome,
                                            const std::vector<size_t>& jobs);

}  // namespace yard
