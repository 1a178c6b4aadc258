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

// The same of a share, where more is better: the trained one's less the untrained one's, by block.
struct Gained {
  double difference = 0;
  Interval interval;  // 95 % over blocks; NaN with fewer than two
};

// Requires: a block.
Gained gained_of(const std::vector<double>& trained, const std::vector<double>& untrained);
std::string verdict_of(const Gained& gained);

}  // namespace yard
