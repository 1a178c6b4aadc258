// Learner `actor-critic`: policy gradient with a learned value baseline, from a replay buffer.
//   L = -min(w, c) A log pi(a | s) - c_h H(pi) + c_v (V - R)^2 / 2
//   R = sum_k g_k r_k + g_n V'(s_n),   A = R - V(s),   w = pi(a | s) / mu(a | s)
// mu is the behaviour policy of some updates ago, with exploration; V' is the critic of the moving
// average of weights. After Bao, Peng and Wu, "Deep learning-based job placement in distributed
// machine learning clusters", INFOCOM 2019, and Peng et al., DL2, 2021, which replay without w. The
// truncated w is from Espeholt et al., "IMPALA", 2018, section 4.1. c = 0 disables w.
#include "agents/learners/replay.h"
#include "agents/networks/action_distribution.h"

namespace yard {
namespace {

struct ActorCriticConfig {
  ReplayConfig replay;
  double ent_coef = 1e-3;
  double vf_coef = 0.5;
  double max_importance_weight = 1;

  void fields(FieldList& f) {
    replay.fields(f);
    f("ent_coef", ent_coef, 0.0, 10.0, "weight of the entropy bonus");
    f("vf_coef", vf_coef, 0.0, 100.0, "weight of the value loss");
    f("max_importance_weight", max_importance_weight, 0.0, 1e6,
      "upper bound of importance weights; 0: no importance weights");
  }
};

class ActorCritic final : public Learner {
 public:
  explicit ActorCritic(const Settings& settings) : config_(parse<ActorCriticConfig>(settings)) {}

  Requirements requirements() const override { return config_.replay.requirements(); }

  Returns compute_advantages(const Experience& e) override {
    const ReplayBatch drawn = sample_replay(e, config_.replay);
    Returns out = n_step_targets(drawn, values(e.target_network, e, value_bootstrap_samples(drawn)),
                                 e.rollout.size());
    const std::vector<float> now = values(e.network, e, drawn.sample);
    for (size_t k = 0; k < drawn.sample.size(); ++k) {
      const auto i = static_cast<size_t>(drawn.sample[k]);
      out.advantage[i] = out.target[i] - now[k];
    }
    return out;
  }

  Loss loss(Network& network, const Minibatch& batch) const override {
    const NetworkOutput output = network.forward(batch.seen, {kPolicyHead, kValueHead});
    const auto [log_prob, entropy] = action_stats(output.logits(), batch.action, batch.seen.offset);
    const auto weight = config_.max_importance_weight > 0
                            ? (log_prob.detach() - batch.behaviour_log_prob)
                                  .exp()
                                  .clamp_max(config_.max_importance_weight)
                            : torch::ones_like(log_prob);
    const auto policy = -weight * batch.advantage * log_prob;              // (B)
    const auto value_loss = 0.5 * (output.value() - batch.target).pow(2);  // (B)
    Loss out;
    out.each = policy - config_.ent_coef * entropy + config_.vf_coef * value_loss;
    out.metrics = {{"policy_loss", policy.detach()},
                   {"entropy", entropy.detach()},
                   {"value_loss", value_loss.detach()},
                   {"weight", weight}};
    return out;
  }

 private:
  static std::vector<float> values(Network& network, const Experience& e,
                                   const std::vector<int64_t>& samples) {
    std::vector<float> out;
    for (const BatchOutput& one :
         forward_samples(network, e.rollout, samples, {kValueHead}, e.threads)) {
      const auto v = one.output.value().contiguous();
      out.insert(out.end(), v.data_ptr<float>(), v.data_ptr<float>() + v.numel());
    }
    return out;
  }

  ActorCriticConfig config_;
};

const LearnerRegistry::Add<ActorCritic> kActorCritic{
    "actor-critic",
    {.about = "policy gradient with a learned value baseline and a replay buffer",
     .source = "Bao et al., Harmony, INFOCOM 2019; Peng et al., DL2, TPDS 2021",
     .settings = describe<ActorCriticConfig>}};

}  // namespace
}  // namespace yard
