// How sure a ratio of mean JCTs is: blocks of time as the unit, neighbours merged until they tell
// different stories. The ratio's interval is Student's t over the jackknife of its logarithm: on 6
// to 24 log-normal blocks its 95 % hold the truth in 92 to 95 % of samples, those of Efron's BCa
// ("Better Bootstrap Confidence Intervals", JASA 1987) in 82 to 91 %. What several cells say
// together is in pooled.h.
//
// Dims: S training seeds, B blocks.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "env/base/rng.h"

namespace yard {

inline constexpr double kConfidence = 0.95;

// NaN where there is too little to tell.
struct Interval {
  double lo = 0, hi = 0;
};

double student_quantile(double p, double degrees);  // Requires: 0 < p < 1, degrees > 0

// Which members of each independent group a statistic is to use, with repetitions.
using Picks = std::vector<std::vector<int>>;
using Statistic = std::function<double(const Picks&)>;

// Returns the BCa interval of a statistic over groups of these sizes, each drawn with replacement.
// `level`: 0.95 for 95 %. Groups of one are constants. Requires: a group of at least 2.
Interval bca_interval(const std::vector<int>& sizes, const Statistic& statistic, double level,
                      const Rng& rng, int draws = 4000);

// Returns statistic +- t * standard error, both by the jackknife over each group, with Welch's and
// Satterthwaite's degrees of freedom.
Interval jackknife_interval(const std::vector<int>& sizes, const Statistic& statistic,
                            double level);

// Pearson correlation of each value with the next; 0 where fewer than 3 or all equal.
double lag1_correlation(std::span<const double> values);

// Sums of JCT over the same jobs, by block.
struct BlockSums {
  std::vector<std::vector<double>> ours;  // (S, B)
  std::vector<double> theirs;             // (B)

  int blocks() const { return static_cast<int>(theirs.size()); }
  // Ours, averaged over seeds, over theirs, all blocks together.
  double ratio() const;
  // The same over picked seeds and blocks, with repetitions.
  double ratio_at(std::span<const int> seeds, std::span<const int> picks) const;
  std::vector<double> log_ratios() const;  // (B)
};

// Adds every second block to the one before it; an odd last one joins the last pair.
std::vector<double> halved(const std::vector<double>& blocks);
BlockSums halved(const BlockSums& sums);

double sum_at(const std::vector<double>& values, std::span<const int> picks);
std::vector<int> all_of(int size);  // 0, 1, ... size - 1

// Merges neighbours in pairs while the lag-1 correlation of log ratios is above 0.2 and at least 4
// blocks are left.
BlockSums merged(BlockSums sums);

// The 95 % interval of sums.ratio() over seeds and blocks.
Interval ratio_interval(const BlockSums& sums);

}  // namespace yard
