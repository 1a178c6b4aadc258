// Learner `clone`: behaviour cloning. The teacher decides, and the policy learns to say what it
// did:
//   L = -log pi(a_T | s)
// (Pomerleau, "ALVINN", 1989: maximum likelihood of the teacher's actions in the states that it
// visits).
#include "agents/learner.h"

namespace yard {
namespace {

class Clone final : public Learner {
 public:
  explicit Clone(const Settings& settings) { parse<NoConfig>(settings); }

  Wants wants() const override { return {.teacher_acts = true}; }

  Returns judge(const Experience& e) override {
    return {std::vector<float>(static_cast<size_t>(e.rollout.size())), {}};
  }

  Loss loss(Network& network, const Minibatch& batch) const override {
    const auto log_prob = torch::log_softmax(network.logits(batch.seen), 1);    // (B, A)
    const auto each = -log_prob.gather(1, batch.teacher).squeeze(1);            // (B)
    const auto agrees = log_prob.argmax(1, true).eq(batch.teacher).squeeze(1);  // (B)
    return {.each = each,
            .kl = {},
            .figures = {{"clone_loss", each.detach()},
                        {"clone_agreement", agrees.to(torch::kFloat32)}}};
  }
};

const LearnerRegistry::Add<Clone> kClone{"clone",
                                         {.about = "learns to do what the task's heuristic does",
                                          .source = "behaviour cloning: Pomerleau, ALVINN, 1989",
                                          .settings = describe<NoConfig>}};

}  // namespace
}  // namespace yard
