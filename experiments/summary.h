// What a candidate's cells say together: rows over the judged ones, over those of them in which
// something could be won, and the same by group.
#pragma once

#include <string>
#include <vector>

#include "experiments/cell_result.h"
#include "experiments/pooled.h"

namespace yard {

// From here on a cell's hindsight headroom counts as something to win.
inline constexpr double kLeastHeadroom = 0.03;

// A ratio to the yardstick over cells; NaN where none has it.
struct Spread {
  double mean = 0;  // geometric
  double worst = 0;
};

// The candidate over one of those that it was compared with, over cells; NaN where somebody did not
// finish.
struct Against {
  std::string policy;
  int judged = 0;  // of the cells
  Estimate ratio;
};

struct SummaryRow {
  std::string policy;
  std::string group;  // "all", or the first part of the cells' names
  std::string over;   // which cells of it
  int cells = 0, judged = 0;
  int better = 0, worse = 0;  // whose interval lies wholly below, above 1
  Pooled pooled;              // against the yardstick
  Against hindsight;          // the best rival of each cell, of no name
  std::vector<Against> against;
  double preemptions_per_job = 0;  // mean of the cells
  double soon_again = 0;           // over all cells
  double training_core_s = 0;      // of a seed, mean; 0: not known
  double decisions_per_s = 0;      // harmonic mean of the cells; NaN where one did not count
  Spread ratio, p99, largest_class, max_wait, preemptions;
  bool finished = true;  // no job was left over; else there are no figures
};

// By candidate; each over all groups first, then, where there are several, by group. Over the
// judged cells and those of them in which something could be won; where some are not judged, over
// all cells, too.
std::vector<SummaryRow> summarise(const std::vector<CellResult>& cells, uint64_t seed);

}  // namespace yard
