// Learner `group`: policy gradient without a critic. Several environments play the same jobs, and
// the baseline of a decision is the return of the others from the same moment on:
//   L = surrogate(A),   A_i = G_i - mean_m G_m(t_i)
// (Mao et al., "Learning scheduling algorithms for data processing clusters", 2019, section 5.3;
// group_advantages() in returns.h).
#include "agents/learners/surrogate.h"

namespace yard {
namespace {

class Group final : public Learner {
 public:
  explicit Group(const Settings& settings) : config_(parse<SurrogateConfig>(settings)) {}

  Requirements requirements() const override {
    return {.groups = true, .explore = config_.explore.explore};
  }

  Returns compute_advantages(const Experience& e) override {
    return group_advantages(e.rollout, e.worlds, e.group, e.horizon_s, e.reward_scale);
  }

  Loss loss(Network& network, const Minibatch& batch) const override {
    return surrogate_loss(network.logits(batch.seen), batch, config_);
  }

 private:
  SurrogateConfig config_;
};

const LearnerRegistry::Add<Group> kGroup{
    "group",
    {.about = "clipped policy gradient relative to other environments with the same jobs",
     .source = "Mao et al., Decima, SIGCOMM 2019 (its baseline)",
     .settings = describe<SurrogateConfig>}};

}  // namespace
}  // namespace yard
