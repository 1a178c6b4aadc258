// Layers one after the other, and what they are called in a checkpoint.
#pragma once

#include <string>
#include <vector>

#include "agents/network.h"

namespace yard {

// Linear layers of these widths from input to output, each cut at 0: x_{i+1} = relu(W_i x_i + b_i).
torch::nn::Sequential cut_layers(const std::vector<int64_t>& widths);

// Those of `layers`, then of `last`, as Mlp of policies/learned/layers.h names them.
NamedTensors mlp_tensors(const std::string& name, const torch::nn::Sequential& layers,
                         const torch::nn::Linear& last);

// The first layer of a window (flat_rows.h): x = relu(sum_r W_r row_r + U cluster + b).
class WindowNet : public torch::nn::Module {
 public:
  WindowNet(const WorldsShape& shape, int64_t hidden);

  // Of standardised rows (R, F) and cluster features (B, C): (B, H).
  torch::Tensor forward(const torch::Tensor& rows, const torch::Tensor& cluster,
                        const torch::Tensor& offset);

  NamedTensors tensors(
      const std::string& name) const;  // as WindowLayer of policies/learned/layers.h

 private:
  torch::Tensor rows_;  // (J F, H)
  torch::nn::Linear cluster_{nullptr};
};

}  // namespace yard
