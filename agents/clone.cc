// Learner `clone`: behaviour cloning. The teacher decides, and the policy learns to say what it
// did:
//   L = -log pi(a_T | s)
// (Pomerleau, "ALVINN", 1989: maximum likelihood of the teacher's actions in the states that it
// visits).
#include "agents/choices.h"
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
    const auto logits = network.logits(batch.seen);                                // (R + B)
    const auto each = -choose(logits, batch.teacher, batch.seen.offset).log_prob;  // (B)
    const auto nothing = batch.seen.offset.diff();                                 // (B)
    const auto teacher = torch::minimum(batch.teacher, nothing);                   // (B)
    const auto agrees = likeliest(logits, batch.seen.offset).eq(teacher);          // (B)
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
