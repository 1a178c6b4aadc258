#include "agents/learners/surrogate.h"

#include "agents/networks/action_distribution.h"

namespace yard {

Loss surrogate_loss(const torch::Tensor& logits, const Minibatch& batch,
                    const SurrogateConfig& config) {
  const auto [log_prob, entropy] = action_stats(logits, batch.action, batch.seen.offset);
  const auto log_ratio = log_prob - batch.old_log_prob;  // (B)
  const auto ratio = log_ratio.exp();
  const auto clipped = ratio.clamp(1 - config.clip_coef, 1 + config.clip_coef);
  const auto weight = (batch.old_log_prob - batch.behaviour_log_prob).exp();  // (B)
  const auto policy = -weight * torch::min(ratio * batch.advantage, clipped * batch.advantage);
  Loss out;
  out.each = policy - config.ent_coef * entropy;
  // k3 estimator of KL(pi_old || pi) (Schulman, "Approximating KL divergence", 2020).
  out.kl = (weight * (ratio - 1 - log_ratio)).detach();
  out.metrics = {{"policy_loss", policy.detach()},
                 {"entropy", entropy.detach()},
                 {"clipfrac", ((ratio.detach() - 1).abs() > config.clip_coef).to(torch::kFloat32)}};
  if (config.expert_kl_coef > 0) {
    const auto expert_kl = kl_divergence(logits, batch.seen.prior, batch.seen.offset);  // (B)
    out.each = out.each + config.expert_kl_coef * expert_kl;
    out.metrics.emplace_back("expert_kl", expert_kl.detach());
  }
  return out;
}

}  // namespace yard
