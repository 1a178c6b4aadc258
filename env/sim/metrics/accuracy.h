// Counts jobs that reached the training metric required by their users, and averages job progress.
// Source: MLFS (Wang, Liu and Shen, CoNEXT 2020, eq. 1).
#pragma once

#include <cstdint>
#include <optional>

#include "env/sim/rulesets/rule_set.h"
#include "env/trace/core/job.h"

namespace yard {

struct AccuracySummary {
  int64_t jobs = 0;         // ended scored jobs with a training curve and a required metric
  int64_t reached = 0;      // jobs that had reached the required metric when they ended
  int64_t due = 0;          // those of `jobs` with a deadline
  int64_t due_reached = 0;  // jobs that reached the required metric by their deadline
  double mean = 0;  // mean progress of jobs at their end, from 0 to 1 (required metric reached)
};

// Returns nothing if `jobs` would be 0. Requires: apply_training_curves() was called on the trace.
std::optional<AccuracySummary> accuracy_of(const Trace& trace, const Outcome& outcome);

}  // namespace yard
