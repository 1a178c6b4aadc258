// Whether a sweep's trials differ, and whether any of them learned: the best of many equal ones is
// best by chance, and what an untrained network reaches is no setting's merit.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "experiments/programs/train/learned.h"

namespace yard {

// One trial's best validation.
struct TrialScore {
  double score = std::numeric_limits<double>::quiet_NaN();
  double untrained = std::numeric_limits<double>::quiet_NaN();  // of update 0; NaN: not known
  // Over the untrained network; NaN where that, or an interval, is not known.
  Learned learned = {
      std::numeric_limits<double>::quiet_NaN(),
      {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::quiet_NaN()}};
};

struct SweepVerdict {
  bool differ = false;   // the best trial's interval lies below that of some other
  bool learned = false;  // the best trial's interval lies below its untrained network
  std::string text;      // a sentence or two
};

SweepVerdict sweep_verdict(const std::vector<TrialScore>& trials);

}  // namespace yard
