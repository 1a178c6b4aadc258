// What training brought: a policy against its untrained self, window by window of validation.
#pragma once

#include <string>
#include <vector>

#include "experiments/statistics.h"

namespace yard {

// A policy's mean JCT over that of its untrained self, which draws in the same way.
struct Learned {
  double ratio = 0;
  Interval interval;  // 95 % over windows; NaN with fewer than two
};

// Requires: logarithms of the same windows, at least one.
Learned learned_of(const std::vector<double>& trained, const std::vector<double>& untrained);

// "0.940 [0.931, 0.949]"
std::string text_of(const Learned& learned);

// What the figure allows to say, as the end of a sentence.
std::string verdict_of(const Learned& learned);

}  // namespace yard
