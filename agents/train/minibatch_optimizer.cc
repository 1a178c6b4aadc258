#include "agents/train/minibatch_optimizer.h"

#include <algorithm>
#include <cmath>

namespace yard {
namespace {

// Rows per part of a minibatch. Larger parts waste memory and leave threads idle; with smaller
// parts LibTorch's overhead per operation dominates.
constexpr int64_t kRowsPerPart = 12288;
constexpr size_t kPartsAtOnce = 64;

// Returns the values of samples: float, or int64 from integers.
template <class T>
torch::Tensor gather(const std::vector<T>& values, std::span<const int64_t> index) {
  using To = std::conditional_t<std::is_same_v<T, float>, float, int64_t>;
  torch::Tensor out =
      torch::empty({static_cast<int64_t>(index.size())}, c10::CppTypeToScalarType<To>::value);
  std::ranges::transform(index, out.data_ptr<To>(),
                         [&](int64_t i) { return values[static_cast<size_t>(i)]; });
  return out;
}

}  // namespace

// Gradient and loss sums of part of a minibatch.
struct MinibatchOptimizer::GradientSums {
  torch::Tensor numbers;  // (weights + 2 + metrics): gradient, loss, KL, metrics
  std::vector<const char*> metrics;
};

// Sums over the steps of an update and over all ranks.
struct MinibatchOptimizer::Sums {
  double samples = 0, kl = 0, largest_norm = 0, last_kl = 0;
  std::vector<std::pair<const char*, double>> metrics;
  std::string non_finite;
};

// Adam's epsilon: Huang et al. 2022, detail 3.
MinibatchOptimizer::MinibatchOptimizer(Network& network, const OptimizerConfig& config,
                                       ThreadPool& threads, Communicator& ranks)
    : network_(network),
      config_(config),
      threads_(threads),
      ranks_(ranks),
      adam_(network.parameters(), torch::optim::AdamOptions(config.learning_rate).eps(1e-5)),
      parameters_(network.parameters()) {
  for (auto& p : parameters_) p.mutable_grad() = torch::zeros_like(p);
}

// `moment`: count, sum and sum of squares of the advantages in the whole minibatch.
Minibatch MinibatchOptimizer::minibatch(const Rollout& rollout, const Returns& returns,
                                        std::span<const int64_t> index,
                                        const double* moment) const {
  Minibatch batch;
  batch.seen = rollout.batch(index);
  batch.action = gather(rollout.action, index);
  batch.expert_action = gather(rollout.expert_action, index);
  batch.old_log_prob = gather(rollout.log_prob, index);
  batch.behaviour_log_prob = gather(rollout.behaviour_log_prob, index);
  // Detail 7: normalised per minibatch.
  const double mean = moment[1] / moment[0];
  const double variance = moment[2] / moment[0] - mean * mean;
  batch.advantage =
      (gather(returns.advantage, index) - mean) / (std::sqrt(std::max(variance, 0.0)) + 1e-8);
  if (!returns.target.empty()) batch.target = gather(returns.target, index);
  if (!rollout.value.empty()) batch.old_value = gather(rollout.value, index);
  return batch;
}

// Computes the gradient of the sum of the losses divided by `count`.
MinibatchOptimizer::GradientSums MinibatchOptimizer::compute_local_gradient(const Learner& learner,
                                                                            const Minibatch& batch,
                                                                            double count) const {
  const Loss loss = learner.loss(network_, batch);
  const auto sum = loss.each.sum();
  const auto gradient =
      torch::autograd::grad({sum / count}, parameters_, {}, /*retain_graph=*/false,
                            /*create_graph=*/false, /*allow_unused=*/true);
  GradientSums out;
  std::vector<torch::Tensor> all;
  // Parameters without a gradient get zeros, so that all ranks sum vectors of one length.
  for (size_t i = 0; i < gradient.size(); ++i) {
    all.push_back(gradient[i].defined() ? gradient[i].flatten()
                                        : torch::zeros({parameters_[i].numel()}));
  }
  all.push_back(sum.detach().view({1}));
  all.push_back(loss.kl.defined() ? loss.kl.sum().view({1}) : torch::zeros({1}));
  for (const auto& [name, each] : loss.metrics) {
    out.metrics.push_back(name);
    all.push_back(each.sum().view({1}));
  }
  out.numbers = torch::cat(all);
  return out;
}

// Makes one gradient step on the mean loss over a minibatch of all ranks; `index` is this rank's
// share. Returns false, without a step, if a value is not finite.
bool MinibatchOptimizer::step(const Learner& learner, const Rollout& rollout,
                              const Returns& returns, std::span<const int64_t> index,
                              const double* moment, Sums& sums) {
  const double count = moment[0];
  // Losses are sums over samples. Parts are added in order, whichever thread computed them.
  const std::vector<SampleRange> parts = split_by_rows(rollout.row_counts(index), kRowsPerPart);
  torch::Tensor flat;
  std::vector<const char*> names;
  // Limits the parts in memory: enough to keep the threads busy, whatever the minibatch size.
  for (size_t first = 0; first < parts.size(); first += kPartsAtOnce) {
    std::vector<GradientSums> gradient_sums(std::min(kPartsAtOnce, parts.size() - first));
    threads_.parallel_for_each(static_cast<int>(gradient_sums.size()), [&](int piece) {
      const auto i = static_cast<size_t>(piece);
      const SampleRange& part = parts[first + i];
      gradient_sums[i] = compute_local_gradient(
          learner, minibatch(rollout, returns, index.subspan(part.from, part.count), moment),
          count);
    });
    for (GradientSums& one : gradient_sums) {
      if (flat.defined()) {
        flat.add_(one.numbers);
      } else {
        flat = one.numbers;
        names = std::move(one.metrics);
      }
    }
  }
  ranks_.sum({flat.data_ptr<float>(), static_cast<size_t>(flat.numel())});

  const int64_t gradients = flat.numel() - 2 - static_cast<int64_t>(names.size());
  const float* tail = flat.data_ptr<float>() + gradients;
  const double norm = flat.slice(0, 0, gradients).to(torch::kFloat64).norm().item<double>();
  sums.last_kl = tail[1] / count;
  const std::pair<const char*, double> must_be_finite[] = {
      {"the loss", tail[0]}, {"approx_kl", tail[1]}, {"the gradient's norm", norm}};
  for (const auto& [name, value] : must_be_finite) {
    if (std::isfinite(value)) continue;
    sums.non_finite = name;
    return false;
  }
  // Detail 11: clipping by the global norm of all gradients.
  const double cut = std::min(1.0, config_.max_grad_norm / (norm + 1e-6));
  int64_t from = 0;
  for (auto& p : parameters_) {
    p.mutable_grad().copy_(flat.slice(0, from, from + p.numel()).view_as(p));
    if (cut < 1) p.mutable_grad().mul_(cut);
    from += p.numel();
  }
  adam_.step();

  sums.samples += count;
  sums.kl += tail[1];
  sums.largest_norm = std::max(sums.largest_norm, norm);
  sums.metrics.resize(names.size());
  for (size_t i = 0; i < names.size(); ++i) {
    sums.metrics[i].first = names[i];
    sums.metrics[i].second += tail[2 + i];
  }
  return true;
}

// Count, sum and sum of squares of the advantages in each part of `order`, over all ranks.
std::vector<double> MinibatchOptimizer::advantage_moments(const Returns& returns,
                                                          const std::vector<int64_t>& order,
                                                          int64_t parts) const {
  std::vector<double> out(static_cast<size_t>(3 * parts), 0.0);
  const auto size = static_cast<int64_t>(order.size());
  for (int64_t k = 0; k < parts; ++k) {
    for (int64_t i = size * k / parts; i < size * (k + 1) / parts; ++i) {
      const double a = returns.advantage[static_cast<size_t>(order[static_cast<size_t>(i)])];
      double* at = out.data() + 3 * k;
      at[0] += 1;
      at[1] += a;
      at[2] += a * a;
    }
  }
  ranks_.sum(out);
  return out;
}

UpdateStats MinibatchOptimizer::update(const Learner& learner, const Rollout& rollout,
                                       const Returns& returns, std::vector<int64_t> order,
                                       double progress, Rng rng) {
  for (auto& group : adam_.param_groups()) {  // detail 4: linear annealing
    static_cast<torch::optim::AdamOptions&>(group.options())
        .lr(config_.learning_rate * (1 - progress));
  }
  double total[1] = {static_cast<double>(order.size())};
  ranks_.sum(total);
  // All ranks make the same number of steps, whatever their shares, of about equal size.
  const auto parts =
      std::max<int64_t>(1, std::llround(std::ceil(total[0] / config_.minibatch_size)));
  const auto size = static_cast<int64_t>(order.size());
  Sums sums;
  for (int epoch = 0; epoch < config_.update_epochs && sums.last_kl <= config_.target_kl; ++epoch) {
    for (size_t i = order.size(); i > 1; --i) {  // detail 6: shuffle over the flat batch
      std::swap(order[i - 1], order[rng.below(static_cast<uint32_t>(i))]);
    }
    const std::vector<double> moments = advantage_moments(returns, order, parts);
    for (int64_t k = 0; k < parts && sums.last_kl <= config_.target_kl; ++k) {
      const int64_t from = size * k / parts, to = size * (k + 1) / parts;
      const std::span<const int64_t> index(order.data() + from, static_cast<size_t>(to - from));
      if (!step(learner, rollout, returns, index, moments.data() + 3 * k, sums)) {
        return {.metrics = {}, .non_finite = sums.non_finite};
      }
    }
  }
  UpdateStats out;
  for (const auto& [name, sum] : sums.metrics) out.metrics.emplace_back(name, sum / sums.samples);
  out.approx_kl = sums.kl / sums.samples;
  out.grad_norm = sums.largest_norm;
  return out;
}

double explained_variance(const std::vector<float>& value, const std::vector<float>& target,
                          const std::vector<int64_t>& samples, Communicator& ranks) {
  // Count, then sums of target, its square, error and its square.
  double sums[5] = {};
  for (const int64_t sample : samples) {
    const auto i = static_cast<size_t>(sample);
    const double t = target[i], e = t - value[i];
    sums[0] += 1;
    sums[1] += t;
    sums[2] += t * t;
    sums[3] += e;
    sums[4] += e * e;
  }
  ranks.sum(sums);
  const double total = sums[2] - sums[1] * sums[1] / sums[0];
  const double error = sums[4] - sums[3] * sums[3] / sums[0];
  return total > 0 ? 1 - error / total : 0;
}

}  // namespace yard
