// PPO's clipped surrogate loss with an entropy bonus and a KL penalty towards the expert:
//   L = -v min(w A, clip(w, 1-e, 1+e) A) - c_h H(pi) + c_t KL(pi || pi_T),
//   w = pi(a) / pi_old(a),   v = pi_old(a) / mu(a)
// (Schulman et al., "Proximal policy optimization algorithms", 2017, eq. 7). mu is the behaviour
// policy: pi_old with exploration (Hilton, Cobbe and Schulman, "Batch size-invariance for policy
// optimization", 2022: the decoupled objective). The expert's policy pi_T is the softmax of the
// agent's prior (Schulman, Chen and Abbeel, "Equivalence between policy gradients and soft
// Q-learning", 2017, eq. 1).
#pragma once

#include "agents/learners/learner.h"

namespace yard {

struct SurrogateConfig {
  double clip_coef = 0.2;
  double ent_coef = 1e-3;
  double expert_kl_coef = 0;
  JobAwareExplorationConfig explore;

  void fields(FieldList& f) {
    f("clip_coef", clip_coef, 0.0, 1.0,
      "maximum relative change of an action's probability in one update");
    f("ent_coef", ent_coef, 0.0, 10.0, "weight of the entropy bonus");
    f("expert_kl_coef", expert_kl_coef, 0.0, 100.0,
      "weight of the KL divergence from the heuristic's probabilities");
    explore.fields(f);
  }
};

// `logits` (R + B) of the network for batch.seen.
Loss surrogate_loss(const torch::Tensor& logits, const Minibatch& batch,
                    const SurrogateConfig& config);

}  // namespace yard
