// Learner `clipped-value-ppo`: PPO whose value loss is clipped around the old value, too (Huang et
// al., "The 37 implementation details of PPO", 2022, detail 9).
//   L = surrogate(A) + c_v max((V - R)^2, (V_old + clip(V - V_old, -e, e) - R)^2) / 2
#include "agents/learners/surrogate.h"

namespace yard {
namespace {

struct Config {
  SurrogateConfig surrogate;
  double vf_coef = 0.5;
  void fields(FieldList& f) {
    surrogate.fields(f);
    f("vf_coef", vf_coef, 0.0, 100.0, "weight of the value loss");
  }
};

class ClippedValuePpo final : public Learner {
 public:
  explicit ClippedValuePpo(const Settings& settings) : config_(parse<Config>(settings)) {}

  Requirements requirements() const override { return {.steps = 32, .critic = true}; }

  Returns compute_advantages(const Experience& e) override {
    return time_aware_gae(e.rollout, e.last_value, e.horizon_s, 0.95, e.reward_scale);
  }

  Loss loss(Network& network, const Minibatch& batch) const override {
    const NetworkOutput output = network.forward(batch.seen, {kPolicyHead, kValueHead});
    Loss out = surrogate_loss(output.logits(), batch, config_.surrogate);
    const double e = config_.surrogate.clip_coef;
    const auto moved = batch.old_value + (output.value() - batch.old_value).clamp(-e, e);
    const auto value = 0.5 * torch::max((output.value() - batch.target).pow(2),
                                        (moved - batch.target).pow(2));  // (B)
    out.each = out.each + config_.vf_coef * value;
    out.metrics.emplace_back("value_loss", value.detach());
    return out;
  }

 private:
  Config config_;
};

const LearnerRegistry::Add<ClippedValuePpo> kClippedValuePpo{
    "clipped-value-ppo",
    {.about = "PPO with a clipped value loss",
     .source = "Schulman et al., 2017; Huang et al., 2022",
     .settings = describe<Config>}};

}  // namespace
}  // namespace yard
