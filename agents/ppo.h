// Proximal policy optimisation (Schulman et al. 2017) over ragged batches with masked actions.
//   L = -E[min(w A, clip(w, 1-e, 1+e) A)] + c_v E[(V - R)^2] / 2 - c_h E[H(pi)],  w = pi(a) /
//   pi_old(a)
// Details follow Huang et al., "The 37 implementation details of PPO", 2022, numbered in ppo.cc.
#pragma once

#include <cstdint>

#include "agents/job_scorer_net.h"
#include "agents/ppo_config.h"
#include "agents/rollout.h"
#include "env/base/rng.h"

namespace yard {

struct PpoStats {
  double policy_loss = 0, value_loss = 0, entropy = 0, approx_kl = 0, clip_fraction = 0;
  double explained_variance = 0;
  bool finite = true;  // false: the update was not applied
};

class Ppo {
 public:
  Ppo(JobScorerNet net, const PpoConfig& config);

  // One update. `progress` in [0, 1] lowers the step size; `rng` shuffles.
  PpoStats update(const Rollout& rollout, const Returns& returns, double progress, Rng rng);

  torch::optim::Adam& optimizer() { return adam_; }

 private:
  JobScorerNet net_;
  PpoConfig config_;
  torch::optim::Adam adam_;
};

}  // namespace yard
