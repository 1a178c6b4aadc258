// What several cells say together. Cells of one window (its congestions) share the draws of its
// blocks, all cells those of training seeds; windows are drawn apart. Intervals are 95 %: Student's
// t over the jackknife for the ratio, whose logarithm is a mean; BCa, widened for few blocks, for
// what is no mean.
//
// Dims: S training seeds, B blocks.
#pragma once

#include <vector>

#include "env/base/rng.h"
#include "experiments/statistics.h"

namespace yard {

// A share of what could be won is no figure where that is less of the mean JCT: noise over noise.
inline constexpr double kNextToNothing = 0.005;

struct PooledCell {
  int window = 0;             // cells of a window have blocks of the same times
  int blocks = 0;             // that it has after merging
  BlockSums sums;             // before it
  std::vector<double> bound;  // (B) the oracle's, empty where there is none
};

// NaN where there is too little to tell.
struct Estimate {
  double value = 0;
  Interval interval;
};

struct Pooled {
  Estimate ratio;  // geometric mean of ours over theirs
  // Sum of ln(ours / theirs) over that of ln(bound / theirs); NaN where a cell has no bound, or
  // where they leave nothing to win.
  Estimate captured;
  Estimate iqm;  // mean of the middle half of ratios, by cell and seed
  // Share of cells and seeds in which ours is below theirs, ties counting half (Agarwal et al.,
  // "Deep RL at the Edge of the Statistical Precipice", NeurIPS 2021).
  Estimate improvement;
};

// Requires: a cell; all alike in S, and those of a window in B.
Pooled pool(std::vector<PooledCell> cells, const Rng& rng);
// Pooled::ratio alone.
Estimate pooled_ratio(std::vector<PooledCell> cells);

}  // namespace yard
