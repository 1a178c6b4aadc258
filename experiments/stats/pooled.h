// Pools the results of several cells. Cells of one window share the resampled blocks, and all cells
// share the resampled training seeds. Windows are resampled independently. The ratio has a 95 %
// jackknife interval. Other statistics have a 95 % BCa interval, which is wider if blocks are few.
// Dims: S training seeds, B blocks.
#pragma once

#include <vector>

#include "env/base/core/rng.h"
#include "experiments/stats/intervals.h"

namespace yard {

// Least headroom (share of the baseline's mean JCT) for an oracle gap closed; below, it is noise.
inline constexpr double kMinHeadroomForGap = 0.005;

struct PooledCell {
  int window = 0;             // cells of a window have blocks of the same times
  int blocks = 0;             // after merging
  BlockSums sums;             // before merging
  std::vector<double> bound;  // (B)  the oracle's block sums; empty without an oracle
};

// NaN with too few data.
struct Estimate {
  double value = 0;
  Interval interval;
};

struct PooledResult {
  Estimate ratio;  // geometric mean of ours / theirs
  // Oracle gap closed: sum of ln(ours / theirs) over sum of ln(bound / theirs). NaN if a cell has
  // no bound or the headroom is below kMinHeadroomForGap.
  Estimate oracle_gap_closed;
  Estimate iqm;  // interquartile mean of ratios, by cell and seed
  // Share of (cell, seed) pairs with a ratio below 1; ties count half (Agarwal et al., "Deep RL at
  // the Edge of the Statistical Precipice", NeurIPS 2021).
  Estimate improvement;
};

// Requires: at least one cell; as many training seeds in all cells; as many blocks in all cells of
// a window.
PooledResult pool(std::vector<PooledCell> cells, const Rng& rng);
// Returns PooledResult::ratio alone.
Estimate pooled_ratio(std::vector<PooledCell> cells);

}  // namespace yard
