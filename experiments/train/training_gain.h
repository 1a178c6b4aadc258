// The gain from training: a policy compared with its untrained network on each validation window,
// and the trials of a sweep compared with each other.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "experiments/stats/intervals.h"

namespace yard {

// A policy's mean JCT divided by that of its untrained network, sampled in the same way.
struct TrainingGain {
  double ratio = 0;
  Interval interval;  // 95 % over windows; NaN with fewer than two windows
};

// Requires: log ratios of the same windows, at least one.
TrainingGain training_gain(const std::vector<double>& trained,
                           const std::vector<double>& untrained);

// "0.940 [0.931, 0.949]"
std::string text_of(const TrainingGain& learned);

// Returns the verdict, as the end of a sentence.
std::string verdict_of(const TrainingGain& learned);

// The trained policy's share minus the untrained policy's share. More is better.
struct AgreementGain {
  double difference = 0;
  Interval interval;  // 95 % over blocks; NaN with fewer than two blocks
};

// Requires: shares of the same blocks, at least one.
AgreementGain agreement_gain(const std::vector<double>& trained,
                             const std::vector<double>& untrained);
std::string verdict_of(const AgreementGain& gain);

// One trial's best validation.
struct TrialScore {
  double score = NAN;
  double untrained = NAN;  // score of update 0, the untrained network; NaN: unknown
  // Ratio to the untrained network. NaN: ratio or interval unknown.
  TrainingGain learned = {NAN, {NAN, NAN}};
};

struct SweepVerdict {
  bool differ = false;   // the best trial's interval is below that of another trial
  bool learned = false;  // the best trial's interval is below its untrained network
  std::string text;      // a sentence or two
};

// Says whether a sweep's trials differ significantly, and whether the best trial beats its
// untrained network.
SweepVerdict sweep_verdict(const std::vector<TrialScore>& trials);

}  // namespace yard
