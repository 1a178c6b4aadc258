#include "agents/ppo.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace yard {
namespace {

torch::Tensor gather(const std::vector<float>& values, std::span<const int64_t> index) {
  torch::Tensor out = torch::empty({static_cast<int64_t>(index.size())});
  float* to = out.data_ptr<float>();
  for (size_t i = 0; i < index.size(); ++i) to[i] = values[static_cast<size_t>(index[i])];
  return out;
}

torch::Tensor gather_actions(const Rollout& rollout, std::span<const int64_t> index) {
  torch::Tensor out = torch::empty({static_cast<int64_t>(index.size()), 1}, torch::kInt64);
  int64_t* to = out.data_ptr<int64_t>();
  for (size_t i = 0; i < index.size(); ++i) to[i] = rollout.action[static_cast<size_t>(index[i])];
  return out;
}

double explained_variance(const std::vector<float>& value, const std::vector<float>& target) {
  const auto n = static_cast<double>(target.size());
  double mean = 0, mean_error = 0, total = 0, error = 0;
  for (size_t i = 0; i < target.size(); ++i) {
    mean += target[i] / n;
    mean_error += (target[i] - value[i]) / n;
  }
  for (size_t i = 0; i < target.size(); ++i) {
    total += (target[i] - mean) * (target[i] - mean);
    error += (target[i] - value[i] - mean_error) * (target[i] - value[i] - mean_error);
  }
  return total > 0 ? 1 - error / total : 0;
}

}  // namespace

Ppo::Ppo(JobScorerNet net, const PpoConfig& config)
    : net_(std::move(net)),
      config_(config),
      adam_(net_->parameters(), torch::optim::AdamOptions(config.lr).eps(1e-5)) {}  // detail 3

PpoStats Ppo::update(const Rollout& rollout, const Returns& returns, double progress, Rng rng) {
  for (auto& group : adam_.param_groups()) {  // detail 4: linear annealing
    static_cast<torch::optim::AdamOptions&>(group.options()).lr(config_.lr * (1 - progress));
  }
  PpoStats stats;
  const bool has_critic = !returns.target.empty();
  if (has_critic) stats.explained_variance = explained_variance(rollout.value, returns.target);
  std::vector<int64_t> order(static_cast<size_t>(rollout.size()));
  std::iota(order.begin(), order.end(), 0);
  int batches = 0;
  for (int epoch = 0; epoch < config_.epochs; ++epoch) {
    for (size_t i = order.size(); i > 1; --i) {  // detail 6: shuffle over the flat batch
      std::swap(order[i - 1], order[rng.below(static_cast<uint32_t>(i))]);
    }
    for (size_t from = 0; from < order.size(); from += static_cast<size_t>(config_.minibatch)) {
      const size_t to = std::min(order.size(), from + static_cast<size_t>(config_.minibatch));
      const std::span<const int64_t> index(order.data() + from, to - from);
      const RaggedBatch batch = rollout.batch(index);
      const auto action = gather_actions(rollout, index);         // (B, 1)
      const auto old_log_prob = gather(rollout.log_prob, index);  // (B)
      auto advantage = gather(returns.advantage, index);          // (B)
      // Detail 7: normalised per minibatch.
      advantage = (advantage - advantage.mean()) / (advantage.std(/*unbiased=*/false) + 1e-8);

      const auto log_prob = torch::log_softmax(net_->logits(batch), 1);  // (B, A)
      const auto taken = log_prob.gather(1, action).squeeze(1);          // (B)
      const auto log_ratio = taken - old_log_prob;
      const auto ratio = log_ratio.exp();
      // Detail 8: the clipped surrogate.
      const auto clipped = ratio.clamp(1 - config_.clip, 1 + config_.clip);
      const auto policy_loss = -torch::min(ratio * advantage, clipped * advantage).mean();
      torch::Tensor value_loss = torch::zeros({});
      if (has_critic) {
        const auto target = gather(returns.target, index);  // (B)
        value_loss = 0.5 * (net_->value(batch) - target).pow(2).mean();
      }
      // A masked action has probability 0 and a finite log, so it adds nothing.
      const auto entropy = -(log_prob.exp() * log_prob).sum(1).mean();
      const auto loss = policy_loss + config_.value_weight * value_loss - config_.entropy * entropy;
      if (!std::isfinite(loss.item<double>())) {
        stats.finite = false;
        return stats;
      }
      adam_.zero_grad();
      loss.backward();
      torch::nn::utils::clip_grad_norm_(net_->parameters(), config_.max_grad_norm);  // detail 11
      adam_.step();

      // Detail 12: k3 estimator of the divergence (Schulman, "Approximating KL divergence", 2020).
      const double kl = (ratio.detach() - 1 - log_ratio.detach()).mean().item<double>();
      stats.policy_loss += policy_loss.item<double>();
      stats.value_loss += value_loss.item<double>();
      stats.entropy += entropy.item<double>();
      stats.approx_kl += kl;
      stats.clip_fraction +=
          ((ratio.detach() - 1).abs() > config_.clip).to(torch::kFloat32).mean().item<double>();
      ++batches;
      if (kl > config_.target_kl) epoch = config_.epochs;
      if (epoch == config_.epochs) break;
    }
  }
  for (double* mean : {&stats.policy_loss, &stats.value_loss, &stats.entropy, &stats.approx_kl,
                       &stats.clip_fraction}) {
    *mean /= batches;
  }
  return stats;
}

}  // namespace yard
