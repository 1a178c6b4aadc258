// Learner `dqn`: double dueling deep Q-network with n-step targets and masked actions.
//   Q(s, a) = V(s) + l(s, a) - max_b l(s, b)
//   L = huber(Q(s, a) - R),   R = sum_k g_k r_k + g_n Q'(s_n, argmax_b l(s_n, b))
// l are the policy's logits with illegal actions masked, V is the critic, Q' is the moving average
// of weights (Mnih et al., "Human-level control through deep reinforcement learning", 2015; van
// Hasselt et al., "Deep reinforcement learning with double Q-learning", 2016; Wang et al., "Dueling
// network architectures", 2016, eq. 8; Lillicrap et al., 2016). Discounts are by elapsed time.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "agents/learners/replay.h"
#include "agents/networks/action_distribution.h"

namespace yard {
namespace {

struct DqnConfig {
  ReplayConfig replay;
  double start_e = 0.3;
  double end_e = 0.02;
  int exploration_updates = 100;
  double huber = 1;

  void fields(FieldList& f) {
    replay.fields(f);
    f("start_e", start_e, 0.0, 1.0, "initial share of random decisions");
    f("end_e", end_e, 0.0, 1.0, "final share of random decisions");
    f("exploration_updates", exploration_updates, 1, 1'000'000,
      "updates over which the share of random decisions falls linearly");
    f("huber", huber, 1e-6, 1e6, "error beyond which the loss is linear");
  }
};

class Dqn final : public Learner {
 public:
  explicit Dqn(const Settings& settings) : config_(parse<DqnConfig>(settings)) {}

  Requirements requirements() const override { return config_.replay.requirements(); }

  Returns compute_advantages(const Experience& e) override {
    ++updates_;
    const ReplayBatch drawn = sample_replay(e, config_.replay);
    const std::vector<int64_t> then = value_bootstrap_samples(drawn);
    std::vector<float> values;
    const auto chosen = forward_samples(e.network, e.rollout, then, {kPolicyHead}, e.threads);
    const auto target_outputs =
        forward_samples(e.target_network, e.rollout, then, {kPolicyHead, kValueHead}, e.threads);
    for (size_t i = 0; i < target_outputs.size(); ++i) {
      const torch::NoGradGuard no_grad;
      const torch::Tensor& offset = target_outputs[i].seen.offset;
      const auto action = argmax_action(chosen[i].output.logits(), offset);
      const auto q = (target_outputs[i].output.value() +
                      logit_minus_best(target_outputs[i].output.logits(), action, offset))
                         .contiguous();
      values.insert(values.end(), q.data_ptr<float>(), q.data_ptr<float>() + q.numel());
    }
    return n_step_targets(drawn, values, e.rollout.size());
  }

  Loss loss(Network& network, const Minibatch& batch) const override {
    const NetworkOutput output = network.forward(batch.seen, {kPolicyHead, kValueHead});
    const auto q =
        output.value() + logit_minus_best(output.logits(), batch.action, batch.seen.offset);  // (B)
    Loss out;
    out.each = torch::nn::functional::huber_loss(
        q, batch.target,
        torch::nn::functional::HuberLossFuncOptions().reduction(torch::kNone).delta(config_.huber));
    out.metrics = {{"q_loss", out.each.detach()},
                   {"q", q.detach()},
                   {"epsilon", torch::full_like(batch.target, epsilon())}};
    return out;
  }

  std::string save() const override { return nlohmann::json{{"updates", updates_}}.dump(); }
  void restore(const std::string& saved) override {
    nlohmann::json::parse(saved).at("updates").get_to(updates_);
  }

 protected:
  int32_t pick_action(const ActionDistribution& o, Rng& rng) const override {
    const bool explores = rng.uniform() < epsilon();
    std::vector<int32_t> legal;
    for (int32_t choice = 0; choice <= o.num_rows(); ++choice) {
      if (o.mask[o.action_of_index(choice)]) legal.push_back(choice);
    }
    if (explores) return o.action_of_index(legal[rng.below(static_cast<uint32_t>(legal.size()))]);
    return o.action_of_index(*std::ranges::max_element(
        legal, {}, [&](int32_t choice) { return o.log_prob[static_cast<size_t>(choice)]; }));
  }

 private:
  double epsilon() const {
    const double passed =
        std::min(1.0, static_cast<double>(updates_) / config_.exploration_updates);
    return config_.start_e + passed * (config_.end_e - config_.start_e);
  }

  DqnConfig config_;
  int updates_ = 0;
};

const LearnerRegistry::Add<Dqn> kDqn{
    "dqn",
    {.about = "Q-network: double, dueling, n-step, with a replay buffer",
     .source = "Mnih et al., Human-level control through deep reinforcement learning, 2015",
     .settings = describe<DqnConfig>}};

}  // namespace
}  // namespace yard
