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
  Interval interval;  // 95 % interval; NaN with too few jobs
  int64_t jobs = 0;
  int blocks = 0;
  double draw_sd = 0;  // standard deviation of the log mean between draws
};

// `values`: (D, J), above 0, jobs by submission. `other_sd`: standard deviation, in logarithms, of
// any further error common to all jobs. The interval is Student's t with the jackknife of the log
// mean over blocks. The variances of draws and of the further error are added: the truth is treated
// as one more draw, not as the mean of the draws.
MeanWithBlockInterval mean_with_block_interval(const std::vector<std::vector<double>>& values,
                                               double other_sd = 0);

}  // namespace yard
