#include "agents/surrogate.h"

namespace yard {

Loss surrogate_loss(Network& network, const Minibatch& batch, const SurrogateConfig& config) {
  const auto log_prob = torch::log_softmax(network.logits(batch.seen), 1);  // (B, A)
  const auto taken = log_prob.gather(1, batch.action).squeeze(1);           // (B)
  const auto log_ratio = taken - batch.old_log_prob;
  const auto ratio = log_ratio.exp();
  const auto clipped = ratio.clamp(1 - config.clip, 1 + config.clip);
  const auto policy = -torch::min(ratio * batch.advantage, clipped * batch.advantage);  // (B)
  // A masked action has probability 0 and a finite log, so it adds nothing.
  const auto entropy = -(log_prob.exp() * log_prob).sum(1);  // (B)
  Loss out;
  out.each = policy - config.entropy * entropy;
  // k3 estimator of the divergence (Schulman, "Approximating KL divergence", 2020).
  out.kl = (ratio - 1 - log_ratio).detach();
  out.figures = {{"policy_loss", policy.detach()},
                 {"entropy", entropy.detach()},
                 {"clip_fraction", ((ratio.detach() - 1).abs() > config.clip).to(torch::kFloat32)}};
  if (config.teacher_kl > 0) {
    const auto teacher = torch::log_softmax(batch.seen.prior, 1);
    const auto leash = (log_prob.exp() * (log_prob - teacher)).sum(1);  // (B)
    out.each = out.each + config.teacher_kl * leash;
    out.figures.emplace_back("teacher_kl", leash.detach());
  }
  return out;
}

}  // namespace yard
