// Computes a mean over jobs with a confidence interval over blocks of consecutive jobs.
// Neighbouring blocks are merged while they correlate. If attributes of jobs were drawn at random,
// the interval includes the spread between draws. Dims: D draws, J jobs.
#pragma once

#include <cstdint>
#include <vector>

#include "experiments/stats/intervals.h"

namespace yard {

struct MeanWithBlockInterval {
  double mean = 0;
  Interval interval;  // 95 % interval of the mean; NaN with too few jobs
  int64_t jobs = 0;
  int blocks = 0;
  double draw_sd = 0;  // standard deviation of the log mean between draws
};

// `values`: (D, J), above 0, jobs by submission. `other_sd`: sd of any further error common to all
// jobs, in logarithms. The interval is Student's t over the jackknife of the log mean over blocks.
// The spreads of the draws and of `other_sd` are added in quadrature: the truth is treated as one
// more draw, not as the mean of the draws.
MeanWithBlockInterval mean_with_block_interval(const std::vector<std::vector<double>>& values,
                                               double other_sd = 0);

}  // namespace yard
