// Learner `ppo`: proximal policy optimisation with a critic (Schulman et al. 2017) on ragged
// batches with masked actions.
//   L = surrogate(A) + c_v (V - R)^2 / 2,   R = A + V_old
// A comes from continuous-time GAE, discounted or for the average reward (returns.h). Rewards are
// absolute or relative to the expert's on the same jobs. Details follow Huang et al., "The 37
// implementation details of PPO", 2022; minibatch_optimizer.cc has those of the optimiser.
#include <nlohmann/json.hpp>

#include "agents/learners/surrogate.h"

namespace yard {
namespace {

struct PpoConfig {
  SurrogateConfig surrogate;
  int num_steps = 128;
  double vf_coef = 0.5;
  double gae_lambda = 0.97;
  bool average_reward = false;
  double rate_step = 0.1;
  bool relative_reward = false;

  void fields(FieldList& f) {
    surrogate.fields(f);
    f("num_steps", num_steps, 1, 100'000, "decisions per environment between updates");
    f("vf_coef", vf_coef, 0.0, 100.0, "weight of the value loss");
    f("gae_lambda", gae_lambda, 0.0, 1.0,
      "decay of advantages per decision that advances time (GAE)");
    f("average_reward", average_reward,
      "optimise the mean reward per second, without discounting, instead of a horizon");
    f("rate_step", rate_step, 0.0, 1.0,
      "step size of the estimated mean reward towards the mean reward of each update");
    f("relative_reward", relative_reward,
      "subtract the heuristic's rewards on the same jobs; the heuristic decides in the first "
      "environment of each group");
  }
};

class Ppo final : public Learner {
 public:
  explicit Ppo(const Settings& settings) : config_(parse<PpoConfig>(settings)) {}

  Requirements requirements() const override {
    const bool relative = config_.relative_reward;
    return {.steps = relative ? 0 : config_.num_steps,
            .critic = true,
            .groups = relative,
            .expert_leads = relative,
            .explore = config_.surrogate.explore.explore};
  }

  Returns compute_advantages(const Experience& e) override {
    if (config_.relative_reward) subtract_expert_rewards(e.rollout, e.worlds, e.group);
    if (!config_.average_reward) {
      return time_aware_gae(e.rollout, e.last_value, e.horizon_s, config_.gae_lambda,
                            e.reward_scale);
    }
    update_mean_reward(e);
    return average_reward_gae(e.rollout, e.last_value, rate_, config_.gae_lambda, e.reward_scale);
  }

  Loss loss(Network& network, const Minibatch& batch) const override {
    const NetworkOutput output = network.forward(batch.seen, {kPolicyHead, kValueHead});
    Loss out = surrogate_loss(output.logits(), batch, config_.surrogate);
    const auto value = 0.5 * (output.value() - batch.target).pow(2);  // (B)
    out.each = out.each + config_.vf_coef * value;
    out.metrics.emplace_back("value_loss", value.detach());
    return out;
  }

  std::string save() const override {
    return nlohmann::json{{"rate", rate_}, {"has_rate", has_rate_}}.dump();
  }
  void restore(const std::string& saved) override {
    const auto json = nlohmann::json::parse(saved);
    json.at("rate").get_to(rate_);
    json.at("has_rate").get_to(has_rate_);
  }

 private:
  // rate <- rate + step (mean reward per second of this rollout - rate)
  void update_mean_reward(const Experience& e) {
    double sums[2] = {0, 0};  // reward, seconds
    for (const float r : e.rollout.reward) sums[0] += e.reward_scale * r;
    for (const float dt : e.rollout.dt_s) sums[1] += dt;
    e.ranks.sum(sums);
    if (sums[1] <= 0) return;
    const double now = sums[0] / sums[1];
    rate_ = has_rate_ ? rate_ + config_.rate_step * (now - rate_) : now;
    has_rate_ = true;
  }

  PpoConfig config_;
  double rate_ = 0;
  bool has_rate_ = false;
};

const LearnerRegistry::Add<Ppo> kPpo{
    "ppo",
    {.about = "clipped policy gradient with a learned value baseline",
     .source = "Schulman et al., Proximal policy optimization algorithms, 2017",
     .settings = describe<PpoConfig>}};

}  // namespace
}  // namespace yard
