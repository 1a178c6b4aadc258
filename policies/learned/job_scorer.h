// The network `job-scorer` without LibTorch: every job is scored by the same small net, so that
// neither the length of the queue nor the size of the cluster is built into it; only rows that
// exist are computed. agents/job_scorer_net.cc is the same network for training; `verify` holds
// them together.
//
//   x_j = [job features j, cluster features]                                    standardised
//   h_j = relu(W2 relu(W1 x_j + b1) + b2)          score of job j    = w3 h_j + b3
//   p   = mean_j h_j                               score of nothing  = w5 relu(W4 [p, cluster] +
//   b4) + b5 logits = prior + scores
// Dims: J rows, F job features, C cluster features, H hidden units.
#pragma once

#include <Eigen/Dense>
#include <span>

#include "env/task/observation.h"
#include "policies/learned/tensors.h"

namespace yard {

class JobScorer {
 public:
  // Throws InputError naming `where` when a tensor is missing, has another shape or is not finite.
  JobScorer(const Tensors& weights, const TaskShape& shape, const std::string& where);

  // Writes logits (J + 1); masked actions get kMaskedLogit. Thread-safe.
  void forward(const Observation& observation, std::span<float> logits) const;

  int hidden() const { return static_cast<int>(w2_.rows()); }

 private:
  using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using Vector = Eigen::VectorXf;

  TaskShape shape_;
  Vector job_mean_, job_scale_, cluster_mean_, cluster_scale_;  // (F), (F), (C), (C)
  Matrix w1_job_, w1_cluster_, w2_, w4_pool_, w4_cluster_;  // (H, F) (H, C) (H, H) (H, H) (H, C)
  Vector b1_, b2_, w3_, b4_, w5_;                           // (H)
  float b3_ = 0, b5_ = 0;
};

// The tensors that a job-scorer has, with their shapes for `hidden` units.
std::map<std::string, std::vector<int64_t>> job_scorer_shapes(int hidden, const TaskShape& shape);

}  // namespace yard
