// The gain from training: a policy compared with its untrained network on each validation window.
#pragma once

#include <string>
#include <vector>

#include "experiments/stats/intervals.h"

namespace yard {

// A policy's mean JCT divided by that of its untrained network, sampled in the same way.
struct TrainingGain {
  double ratio = 0;
  Interval interval;  // 95 % over windows; NaN with fewer than two
};

// Requires: log ratios of the same windows, at least one.
TrainingGain training_gain(const std::vector<double>& trained,
                           const std::vector<double>& untrained);

// "0.940 [0.931, 0.949]"
std::string text_of(const TrainingGain& learned);

// Returns the verdict, as the end of a sentence.
std::string verdict_of(const TrainingGain& learned);

// The same for a share, of which more is better: the trained policy's minus the untrained one's.
struct ShareGain {
  double difference = 0;
  Interval interval;  // 95 % over blocks; NaN with fewer than two
};

// Requires: shares of the same blocks, at least one.
ShareGain share_gain(const std::vector<double>& trained, const std::vector<double>& untrained);
std::string verdict_of(const ShareGain& gain);

}  // namespace yard
