// Jobs that reached the training metric which their users require, and the progress of other jobs.
// Source: MLFS (Wang, Liu and Shen, CoNEXT 2020, eq. 1).
#pragma once

#include <cstdint>
#include <optional>

#include "env/sim/rulesets/rule_set.h"
#include "env/trace/core/job.h"

namespace yard {

struct AccuracySummary {
  int64_t jobs = 0;         // scored jobs which ended and have a curve and `enough`
  int64_t reached = 0;      // jobs with the metric at `enough` when they ended
  int64_t due = 0;          // jobs with a deadline
  int64_t due_reached = 0;  // jobs which reached `enough` and ended by their deadline
  double mean = 0;  // mean progress at the end: 0 at the curve's first value, 1 from `enough` on
};

// Returns the summary, or nothing where no job counts. Requires: set_training_curves() was called.
std::optional<AccuracySummary> accuracy_of(const Trace& trace, const Outcome& outcome);

}  // namespace yard
