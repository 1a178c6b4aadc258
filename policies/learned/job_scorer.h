// The network `job-scorer` for inference without LibTorch. One small net scores every job, so
// neither queue length nor cluster size is built in; only existing rows are computed.
// agents/networks/job_scorer_net.cc is the same network for training.
//
//   x_j = [job features j, cluster features]                           standardised
//   h_j = relu(W2 relu(W1 x_j + b1) + b2)           score of job j = w3 h_j + b3
//   p   = mean_j h_j            score of doing nothing = w5 relu(W4 [p, cluster] + b4) + b5
//   logits = prior + scores
// Dims: J rows, F job features, C cluster features, H hidden units.
#pragma once

#include "policies/learned/layers.h"

namespace yard {

class JobScorer final : public NativeNetwork {
 public:
  explicit JobScorer(const TrainedWeights& weights);

  void forward(const Observation& observation, std::span<float> logits) const override;
  Settings settings() const override { return settings_with_hidden_size(w2_.rows()); }
  std::optional<OnnxScores> export_onnx(OnnxGraph& graph, const OnnxGraph::Value& rows,
                                        const OnnxGraph::Value& cluster) const override;

 private:
  ObservationShape shape_;
  Normaliser normaliser_;
  RowMatrix w1_job_, w1_cluster_, w2_, w4_pool_, w4_cluster_;  // (H, F) (H, C) (H, H) (H, H) (H, C)
  Vector b1_, b2_, w3_, b4_, w5_;                              // (H)
  float b3_ = 0, b5_ = 0;
};

// Returns the shapes of all tensors of the network job-scorer with `hidden` units per layer.
Shapes job_scorer_shapes(int64_t hidden, const ObservationShape& shape);

}  // namespace yard
