// Learner `reinforce`: the simplest policy gradient; worlds with the same jobs are the baseline.
//   L = -A log pi(a | s)
// (Williams, "Simple statistical gradient-following algorithms", 1992)
#include "agents/learners/learner.h"
#include "agents/networks/action_distribution.h"

namespace yard {
namespace {

class Reinforce final : public Learner {
 public:
  explicit Reinforce(const Settings& settings) { parse<NoConfig>(settings); }

  Requirements requirements() const override { return {.groups = true}; }

  Returns compute_advantages(const Experience& e) override {
    return group_advantages(e.rollout, e.worlds, e.group, e.horizon_s, e.reward_scale);
  }

  Loss loss(Network& network, const Minibatch& batch) const override {
    const auto logits = network.logits(batch.seen);
    const auto log_prob = action_stats(logits, batch.action, batch.seen.offset).log_prob;
    return {.each = -batch.advantage * log_prob, .kl = {}, .metrics = {}};
  }
};

const LearnerRegistry::Add<Reinforce> kReinforce{"reinforce",
                                                 {.about = "the plainest policy gradient",
                                                  .source = "Williams, 1992",
                                                  .settings = describe<NoConfig>}};

}  // namespace
}  // namespace yard
