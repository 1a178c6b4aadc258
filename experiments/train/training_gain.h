// The gain from training: compares a trained policy with the untrained network on each validation
// window, and the trials of a sweep with each other.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "experiments/stats/intervals.h"

namespace yard {

// Ratio of a trained policy's mean JCT to that of the untrained network. A ratio below 1 is better.
struct TrainingGain {
  double ratio = 0;
  Interval interval;  // 95 % interval over windows; NaN for one window
};

// Requires: log ratios of the same windows in both lists, of at least one window.
TrainingGain training_gain(const std::vector<double>& trained,
                           const std::vector<double>& untrained);

// "0.940 [0.931, 0.949]"
std::string text_of(const TrainingGain& learned);

// Returns a verdict on the gain as a phrase that ends a sentence.
std::string verdict_of(const TrainingGain& learned);

// Agreement share of the trained policy minus that of the untrained network. More is better.
struct AgreementGain {
  double difference = 0;
  Interval interval;  // 95 % interval over blocks; NaN for one block
};

// Requires: agreement shares of the same blocks in both lists, of at least one block.
AgreementGain agreement_gain(const std::vector<double>& trained,
                             const std::vector<double>& untrained);
std::string verdict_of(const AgreementGain& gain);

// Best validation score of one trial of a sweep.
struct TrialScore {
  double score = NAN;
  double untrained = NAN;  // validation score of update 0; NaN: unknown
  // Ratio of mean JCT to that of the untrained network; NaN if the ratio or interval is unknown.
  TrainingGain learned = {NAN, {NAN, NAN}};
};

struct SweepVerdict {
  bool differ = false;   // whether the best trial is significantly better than another
  bool learned = false;  // whether the best trial is better than its untrained network
  std::string text;      // verdict in one or two sentences
};

// Returns whether a sweep's trials differ significantly, and whether the best trial is better than
// its untrained network.
SweepVerdict sweep_verdict(const std::vector<TrialScore>& trials);

}  // namespace yard
