// Meta-learning: finds weights from which a few updates on one environment give a good policy for
// it. First-order MAML in the form of Reptile (Finn, Abbeel and Levine, "Model-agnostic
// meta-learning for fast adaptation of deep networks", 2017; Nichol, Achiam and Schulman, "On
// first-order meta-learning algorithms", 2018). A task is one environment. Each task starts from
// the weights w with a fresh optimiser and learner, runs K updates and yields w_K. Then
//   w <- w + e (w_K - w),   where e falls linearly over the tasks.
// To adapt a meta-learned policy, train with its checkpoint as `start`.
#pragma once

#include <memory>
#include <string>

#include "agents/networks/network.h"
#include "agents/train/train_config.h"

namespace yard {

class Reptile {
 public:
  // Requires: config.meta_updates > 0; `weights` is a network of the trained kind.
  Reptile(const TrainConfig& config, std::unique_ptr<Network> weights, int env_specs);

  // Returns the env_spec of the task which contains update `update`. Tasks visit all environments
  // in random order before any repeats.
  int env_spec_index(int update) const;

  // Takes the outer step towards `learned`, the result of the task which ended with `update`.
  void outer_step(const Network& learned, int update);

  Network& weights() const { return *weights_; }

 private:
  int task_index(int update) const { return update / config_.meta_updates; }

  TrainConfig config_;
  std::unique_ptr<Network> weights_;
  int env_specs_;
};

// Copies weights and normaliser. Requires: both networks are of one kind.
void copy_network(const Network& from, Network& to);

}  // namespace yard
