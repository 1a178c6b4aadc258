// How much does what was seen of a few jobs count beside what is known of many? As many jobs as
// would have foretold best what happened next: Bayes' rule over a few choices, whose losses fade so
// that the answer may change. Whatever happens is foretold before it is learned from.
#pragma once

#include <cstdint>

#include "env/base/log2.h"

namespace yard {

struct Worth {
  static constexpr int32_t kChoices = 8;
  static constexpr float kKeep = 1 - 1.0F / 4096;  // what an observation leaves of the losses

  float loss[kChoices] = {};  // bits lost by each choice
  float jobs = 32;            // the answer, as long as nothing is known the middle of all choices

  // A quarter of a job, 1, 4, and so on up to 4096.
  static float choice(int32_t i) { return static_cast<float>(1 << (2 * i)) * 0.25F; }

  // The geometric mean of the choices, each weighted by the chance that it gave to what was seen.
  void settle() {
    float least = loss[0];
    for (const float x : loss) least = x < least ? x : least;
    double sum = 0, log2_sum = 0;
    for (int32_t i = 0; i < kChoices; ++i) {
      if (loss[i] - least > 60) continue;
      const double weight = exp2_coarse(least - loss[i]);
      sum += weight;
      log2_sum += weight * (2 * i - 2);
    }
    jobs = static_cast<float>(exp2_coarse(log2_sum / sum));
  }
};

// The chance to end of whom `exposed` jobs of the layer were exposed to, of which `ended` did,
// where the layer before it says `prior`, which counts for `worth` jobs.
inline float blended(float exposed, float ended, float worth, float prior) {
  return (ended + worth * prior) / (exposed + worth);
}

// What one decision adds to the losses, in whole parts of a bit: sums that do not depend on the
// order of what is seen.
struct WorthNews {
  int64_t loss[Worth::kChoices] = {};
  int64_t observations = 0;

  // Takes in that a job ended or did not, which the layer foretold so.
  void add(float exposed, float ended, float prior, bool it_ended) {
    if (exposed == 0) return;  // all choices say the same
    ++observations;
    for (int32_t i = 0; i < Worth::kChoices; ++i) {
      const float chance = blended(exposed, ended, Worth::choice(i), prior);
      const float told = it_ended ? chance : 1 - chance;
      loss[i] += static_cast<int64_t>(-kParts * log2_coarse(told > kLeast ? told : kLeast));
    }
  }

  void learn(Worth& worth) const {
    for (int64_t i = 0; i < observations; ++i) {
      for (float& x : worth.loss) x *= Worth::kKeep;
    }
    for (int32_t i = 0; i < Worth::kChoices; ++i) {
      worth.loss[i] += static_cast<float>(loss[i]) / kParts;
    }
    if (observations > 0) worth.settle();
  }

 private:
  static constexpr float kParts = 65536, kLeast = 1e-6F;
};

}  // namespace yard
