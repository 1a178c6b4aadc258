// Learns the prior strength of a layer of the survival model online: Bayes' rule weighs a few
// choices by how well each predicted outcomes. Losses decay, so that the strength can change.
#pragma once

#include <algorithm>
#include <cstdint>

#include "env/base/core/log2.h"

namespace yard {

struct PriorStrength {
  static constexpr int32_t kChoices = 8;
  static constexpr float kKeep = 1 - 1.0F / 4096;  // decay of the losses per observation

  float loss[kChoices] = {};  // log loss of each candidate strength, in bits
  float jobs = 32;            // learned strength; initially the middle choice

  // Candidate strengths: 0.25, 1, 4, ... 4096 observations.
  static float choice(int32_t i) { return static_cast<float>(1 << (2 * i)) * 0.25F; }

  // Sets `jobs` to the geometric mean of the choices, weighted by their likelihoods.
  void update_strength() {
    const float least = *std::ranges::min_element(loss);
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

// Posterior hazard of a layer, if `ended` of `exposed` jobs ended in a bin and the parent layer's
// hazard `prior` counts as `prior_strength` observations.
inline float posterior_hazard(float exposed, float ended, float prior_strength, float prior) {
  return (ended + prior_strength * prior) / (exposed + prior_strength);
}

// Losses added by one decision, as integers, whose sums do not depend on the order of addition.
struct PriorStrengthUpdate {
  int64_t loss[PriorStrength::kChoices] = {};
  int64_t observations = 0;

  // Adds to the loss of every candidate prior strength for one outcome: whether a job that reached
  // a time bin ended in this bin.
  void add(float exposed, float ended, float prior, bool it_ended) {
    if (exposed == 0) return;  // every choice predicts the prior
    ++observations;
    for (int32_t i = 0; i < PriorStrength::kChoices; ++i) {
      const float chance = posterior_hazard(exposed, ended, PriorStrength::choice(i), prior);
      const float likelihood = it_ended ? chance : 1 - chance;
      loss[i] += static_cast<int64_t>(
          -kParts * log2_coarse(likelihood > kMinLikelihood ? likelihood : kMinLikelihood));
    }
  }

  void learn(PriorStrength& prior_strength) const {
    for (int64_t i = 0; i < observations; ++i) {
      for (float& x : prior_strength.loss) x *= PriorStrength::kKeep;
    }
    for (int32_t i = 0; i < PriorStrength::kChoices; ++i) {
      prior_strength.loss[i] += static_cast<float>(loss[i]) / kParts;
    }
    if (observations > 0) prior_strength.update_strength();
  }

 private:
  static constexpr float kParts = 65536, kMinLikelihood = 1e-6F;
};

}  // namespace yard
