// Whether jobs reached the measure with which their users are content, and how near the others
// came: what MLFS (Wang, Liu and Shen, CoNEXT 2020, eq. 1) counts beside times and deadlines.
#pragma once

#include <cstdint>
#include <optional>

#include "env/sim/pacing.h"
#include "env/trace/job.h"

namespace yard {

struct AccuracySummary {
  int64_t jobs = 0;         // scored, with a curve and `enough`, that ended
  int64_t reached = 0;      // of these, those that ended with their `enough` reached
  int64_t due = 0;          // of these, those with a deadline
  int64_t due_reached = 0;  // of those, who ended by it with their `enough` reached
  // Mean over `jobs` of the way from the first measure to `enough` that lay behind them at their
  // end, as a share; more than all of it counts as all of it.
  double mean = 0;
};

// Empty where there is no such job. Requires: settle_curves().
std::optional<AccuracySummary> accuracy_of(const Trace& trace, const Outcome& outcome);

}  // namespace yard
