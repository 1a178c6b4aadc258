// Summarises a candidate over cells: over the conclusive cells, over those with headroom, and by
// group.
#pragma once

#include <string>

#include "experiments/evaluate/cell_result.h"
#include "experiments/stats/pooled.h"

namespace yard {

// Least hindsight headroom of a cell with something to gain.
inline constexpr double kMinHeadroom = 0.03;

// Mean and largest ratio of a figure to the baseline's, over cells; NaN if no cell has a ratio.
struct MeanAndWorst {
  double mean = 0;  // geometric
  double worst = 0;
};

// The candidate against one compared policy, over cells. Figures are NaN if a job did not end.
struct PooledComparison {
  std::string policy;
  int conclusive = 0;  // conclusive cells
  Estimate ratio;
};

struct SummaryRow {
  std::string policy;
  std::string group;  // "all", or the first part of the cell names
  std::string over;   // which cells of the group the row covers
  int cells = 0, conclusive = 0;
  int better = 0, worse = 0;   // number of cells whose interval is wholly below 1; wholly above 1
  PooledResult pooled;         // against the baseline
  PooledComparison hindsight;  // comparison with the best rival of each cell; has no name
  std::vector<PooledComparison> against;
  double preemptions_per_job = 0;  // mean over cells
  double rapid_repreemptions = 0;  // sum over cells
  double training_core_s = 0;      // mean core-seconds of training per seed; 0: unknown
  double decisions_per_s = 0;      // harmonic mean over cells; NaN if unknown in a cell
  MeanAndWorst ratio, p99, largest_class, max_wait, preemptions;
  bool finished = true;  // all jobs ended; otherwise figures are missing
};

// Returns rows by candidate: over all groups, then, if there are several, by group. In each
// case, one row covers the conclusive cells and another the conclusive cells with headroom. If some
// cells are inconclusive, a row over all cells is added.
std::vector<SummaryRow> summarise(const std::vector<CellResult>& cells, uint64_t seed);

}  // namespace yard
