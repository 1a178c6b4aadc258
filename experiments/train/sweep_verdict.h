// Whether a sweep's trials differ, and whether any of them learned. The best of many equal trials
// is best by chance, and an untrained network's score says nothing about settings.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "experiments/train/training_gain.h"

namespace yard {

// One trial's best validation.
struct TrialScore {
  double score = std::numeric_limits<double>::quiet_NaN();
  double untrained = std::numeric_limits<double>::quiet_NaN();  // of update 0; NaN: unknown
  // Ratio to the untrained network. NaN: ratio or interval unknown.
  TrainingGain learned = {
      std::numeric_limits<double>::quiet_NaN(),
      {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::quiet_NaN()}};
};

struct SweepVerdict {
  bool differ = false;   // the best trial's interval is below that of another trial
  bool learned = false;  // the best trial's interval is below its untrained network
  std::string text;      // a sentence or two
};

SweepVerdict sweep_verdict(const std::vector<TrialScore>& trials);

}  // namespace yard
