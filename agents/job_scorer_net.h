// The network `job-scorer` (policies/learned/job_scorer.h) for training, with the critic beside it.
// Rows of all samples lie in one tensor, so that only jobs that exist are computed.
// Dims: B samples, R rows of all samples together, F, C features, H hidden, A = J + 1 actions.
#pragma once

#include <torch/torch.h>

#include "env/task/dispatch.h"
#include "policies/learned/tensors.h"

namespace yard {

// What the network sees of B decisions.
struct RaggedBatch {
  torch::Tensor jobs;     // (R, F)
  torch::Tensor offset;   // (B + 1) int64  sample b has rows [offset[b], offset[b + 1])
  torch::Tensor slot;     // (R) int64  where a row's score stands in (B, J)
  torch::Tensor count;    // (B, 1)     rows a sample, at least 1
  torch::Tensor cluster;  // (B, C)
  torch::Tensor prior;    // (B, A)     kMasked where an action is illegal
};

class JobScorerNetImpl : public torch::nn::Module {
 public:
  explicit JobScorerNetImpl(int hidden);

  torch::Tensor logits(const RaggedBatch& batch);  // (B, A) prior + scores
  torch::Tensor value(const RaggedBatch& batch);   // (B)

  // Standardises features from now on: (x - mean) * scale, the figures taken from `batch`.
  void fit_normaliser(const RaggedBatch& batch);

  // The policy's tensors, as JobScorer reads them.
  Tensors export_policy() const;
  void import_policy(const Tensors& tensors);  // Requires: as exported

 private:
  torch::Tensor job_mean_, job_scale_, cluster_mean_, cluster_scale_;  // buffers
  torch::nn::Linear w1_job_{nullptr}, w1_cluster_{nullptr}, w2_{nullptr}, w3_{nullptr};
  torch::nn::Linear w4_pool_{nullptr}, w4_cluster_{nullptr}, w5_{nullptr};
  // The critic shares nothing: v1 scores rows, v2 reads their sum and the cluster.
  torch::nn::Linear v1_job_{nullptr}, v1_cluster_{nullptr}, v2_pool_{nullptr}, v2_cluster_{nullptr};
  torch::nn::Linear v3_{nullptr};
};
TORCH_MODULE(JobScorerNet);

}  // namespace yard
