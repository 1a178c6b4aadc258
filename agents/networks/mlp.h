// Multi-layer perceptrons, and the names of their tensors in a checkpoint.
#pragma once

#include <string>
#include <vector>

#include "agents/networks/network.h"

namespace yard {

// Returns linear layers of `widths`, each followed by a ReLU: x_{i+1} = relu(W_i x_i + b_i).
torch::nn::Sequential make_mlp(const std::vector<int64_t>& widths);

// Returns the tensors of `layers` and `last`, named as in class Mlp (policies/learned/layers.h).
NamedTensors named_mlp_tensors(const std::string& name, const torch::nn::Sequential& layers,
                               const torch::nn::Linear& last);

// First layer of a network whose input is a window of rows (windowed_linear.h): x = relu(sum_r W_r
// row_r + U cluster + b).
class TorchWindowLayer : public torch::nn::Module {
 public:
  TorchWindowLayer(const ObservationShape& shape, int64_t hidden);

  // Maps standardised rows (R, F) and cluster features (B, C) to hidden units (B, H).
  torch::Tensor forward(const torch::Tensor& rows, const torch::Tensor& cluster,
                        const torch::Tensor& offset);

  NamedTensors tensors(
      const std::string& name) const;  // named as in class WindowLayer (policies/learned/layers.h)

 private:
  torch::Tensor rows_;  // (J F, H)
  torch::nn::Linear cluster_{nullptr};
};

}  // namespace yard
