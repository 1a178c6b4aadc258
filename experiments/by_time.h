// How sure a mean over jobs is: those that were submitted one after the other have much in common,
// so that blocks of them are the unit, neighbours merged until they tell different stories; and
// where some of what the jobs are was drawn, how far the draws lie apart counts, too. Dims: D
// draws, J jobs.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "experiments/statistics.h"

namespace yard {

struct MeanByTime {
  double mean = 0;
  Interval interval;  // 95 %; NaN where there are too few jobs to tell
  int64_t jobs = 0;
  int blocks = 0;
  double draw_sd = 0;  // of the logarithm, between draws
};

// `values`: (D, J) above 0, jobs by submission. `other_sd`: of the logarithm, what else is
// uncertain of all of them together. The interval is Student's t over the jackknife of the mean's
// logarithm over blocks, then the draws' and the other spread are added as squares: the truth is
// another draw, not the draws' mean.
MeanByTime mean_by_time(const std::vector<std::vector<double>>& values, double other_sd = 0);

}  // namespace yard
