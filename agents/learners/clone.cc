// Learner `clone`: behaviour cloning. The expert acts, and the policy learns its actions:
//   L = -log pi(a_T | s) - c_h H(pi)
// (Pomerleau, "ALVINN", 1989). The entropy bonus keeps a clone from becoming too certain to explore
// in later training (Pereyra et al., "Regularizing neural networks by penalizing confident output
// distributions", 2017).
#include "agents/learners/learner.h"
#include "agents/networks/action_distribution.h"

namespace yard {
namespace {

struct CloneConfig {
  double ent_coef = 0;

  void fields(FieldList& f) {
    f("ent_coef", ent_coef, 0.0, 100.0,
      "weight of the entropy bonus, which keeps the clone exploratory");
  }
};

class Clone final : public Learner {
 public:
  explicit Clone(const Settings& settings) : config_(parse<CloneConfig>(settings)) {}

  Requirements requirements() const override { return {.expert_acts = true}; }

  Returns compute_advantages(const Experience& e) override {
    return {std::vector<float>(static_cast<size_t>(e.rollout.size())), {}};
  }

  Loss loss(Network& network, const Minibatch& batch) const override {
    const auto logits = network.logits(batch.seen);  // (R + B)
    const auto [log_prob, entropy] =
        action_stats(logits, batch.expert_action, batch.seen.offset);                // (B)
    const auto nothing = batch.seen.offset.diff();                                   // (B)
    const auto expert_action = torch::minimum(batch.expert_action, nothing);         // (B)
    const auto agrees = argmax_action(logits, batch.seen.offset).eq(expert_action);  // (B)
    return {.each = -log_prob - config_.ent_coef * entropy,
            .kl = {},
            .metrics = {{"clone_loss", -log_prob.detach()},
                        {"entropy", entropy.detach()},
                        {"clone_agreement", agrees.to(torch::kFloat32)}}};
  }

 private:
  CloneConfig config_;
};

const LearnerRegistry::Add<Clone> kClone{"clone",
                                         {.about = "imitates the task's heuristic",
                                          .source = "behaviour cloning: Pomerleau, ALVINN, 1989",
                                          .settings = describe<CloneConfig>}};

}  // namespace
}  // namespace yard
