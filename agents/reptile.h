// Meta-learning: weights from which a few updates on one course make a policy that is good there.
// First-order MAML in the form of Reptile (Finn, Abbeel and Levine, "Model-agnostic meta-learning
// for fast adaptation of deep networks", 2017; Nichol, Achiam and Schulman, "On first-order
// meta-learning algorithms", 2018). A task is one course: on it a training of K updates like any
// other begins with the weights w, its optimiser and learner new, and what it would keep, w_K,
// draws w along:
//   w <- w + e (w_K - w),   e falling linearly over the tasks
// Not RL^2 (Duan et al., 2016), whose policy adapts by what a recurrent memory holds of the
// decisions before: what is served here remembers nothing of them, and adapting it is a training
// that has it as its `start`. Of first order, since the second derivatives of a policy gradient are
// mostly noise.
#pragma once

#include <memory>
#include <string>

#include "agents/network.h"
#include "agents/train_config.h"

namespace yard {

class Reptile {
 public:
  // Requires: config.meta_updates > 0; `weights` is a network of the training's kind.
  Reptile(const TrainConfig& config, std::unique_ptr<Network> weights, int courses);

  // The course of the task that update `update` belongs to: in an order drawn by lot each is played
  // once before any is played again.
  int course(int update) const;

  // The task whose last update was number `update` has come to `learned`.
  void draw_along(const Network& learned, int update);

  Network& weights() const { return *weights_; }

 private:
  int task(int update) const { return update / config_.meta_updates; }

  TrainConfig config_;
  std::unique_ptr<Network> weights_;
  int courses_;
};

// Copies weights and normaliser. Requires: networks of one kind.
void copy_network(const Network& from, Network& to);

}  // namespace yard
