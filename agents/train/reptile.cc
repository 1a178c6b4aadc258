#include "agents/train/reptile.h"

#include <numeric>
#include <utility>
#include <vector>

#include "env/base/core/rng.h"

namespace yard {
Reptile::Reptile(const TrainConfig& config, std::unique_ptr<Network> weights, int env_specs)
    : config_(config), weights_(std::move(weights)), env_specs_(env_specs) {}

int Reptile::env_spec_index(int update) const {
  constexpr uint64_t kOrderStream = 4;
  const int round = task_index(update) / env_specs_;
  std::vector<int> order(static_cast<size_t>(env_specs_));
  std::iota(order.begin(), order.end(), 0);
  Rng rng = Rng{config_.seed}.split(kOrderStream).split(static_cast<uint64_t>(round));
  for (size_t i = order.size(); i > 1; --i) {
    std::swap(order[i - 1], order[rng.below(static_cast<uint32_t>(i))]);
  }
  return order[static_cast<size_t>(task_index(update) % env_specs_)];
}

void Reptile::outer_step(const Network& learned, int update) {
  torch::NoGradGuard no_grad;
  const double tasks = static_cast<double>(config_.updates) / config_.meta_updates;
  const double step = config_.meta_step * (1 - task_index(update) / tasks);
  auto weights = weights_->parameters();
  const auto to = learned.parameters();
  for (size_t i = 0; i < weights.size(); ++i) weights[i].lerp_(to[i], step);
}

void copy_network(const Network& from, Network& to) {
  torch::NoGradGuard no_grad;
  const auto copy = [](const std::vector<torch::Tensor>& a, std::vector<torch::Tensor> b) {
    for (size_t i = 0; i < b.size(); ++i) b[i].copy_(a[i]);
  };
  copy(from.parameters(), to.parameters());
  copy(from.buffers(), to.buffers());
}

}  // namespace yard
