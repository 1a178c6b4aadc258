// Optimiser updates: minimises a learner's loss over samples with Adam in shuffled minibatches.
// Each rank computes its share of every minibatch; one all-reduce sums the gradients.
#pragma once

#include "agents/learners/learner.h"
#include "agents/train/train_config.h"
#include "env/base/core/rng.h"
#include "env/batch/pool.h"

namespace yard {

struct UpdateStats {
  std::vector<std::pair<std::string, double>> metrics;  // names and means over the update
  double approx_kl = 0;
  double grad_norm = 0;    // largest gradient norm of all steps, before clipping
  std::string non_finite;  // name of a non-finite value, which ended the update, or ""
};

class MinibatchOptimizer {
 public:
  // Requires: the network, the threads and the ranks outlive the optimizer.
  MinibatchOptimizer(Network& network, const OptimizerConfig& config, ThreadPool& threads,
                     Communicator& ranks);

  // Learns from the samples of `rollout` with the indices `order`. The learning rate is multiplied
  // by 1 - `progress`, with `progress` in [0, 1]. `rng` shuffles.
  UpdateStats update(const Learner& learner, const Rollout& rollout, const Returns& returns,
                     std::vector<int64_t> order, double progress, Rng rng);

  torch::optim::Adam& optimizer() { return adam_; }

 private:
  struct Sums;
  Minibatch minibatch(const Rollout& rollout, const Returns& returns,
                      std::span<const int64_t> index, const double* moment) const;
  struct GradientSums;
  GradientSums compute_local_gradient(const Learner& learner, const Minibatch& batch,
                                      double count) const;
  bool step(const Learner& learner, const Rollout& rollout, const Returns& returns,
            std::span<const int64_t> index, const double* moment, Sums& sums);
  std::vector<double> advantage_moments(const Returns& returns, const std::vector<int64_t>& order,
                                        int64_t parts) const;

  Network& network_;
  OptimizerConfig config_;
  ThreadPool& threads_;
  Communicator& ranks_;
  torch::optim::Adam adam_;
  std::vector<torch::Tensor> parameters_;
};

// Returns the share of the targets' variance which the values explain, over all ranks.
double explained_variance(const std::vector<float>& value, const std::vector<float>& target,
                          const std::vector<int64_t>& samples, Communicator& ranks);

}  // namespace yard
