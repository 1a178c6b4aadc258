// Fused layers over the rows of all samples: each layer is a matrix product and one pass over
// memory. Parameters, `context` and inputs computed by layers have gradients. The rows x of
// score_rows() and relu_linear_segment_sum() have no gradients. Dims: B samples, R rows, F
// features per row, H, G hidden units; offset (B + 1) int64: sample b has rows [offset[b],
// offset[b + 1]).
#pragma once

#include "agents/kernels/torch.h"

namespace yard {

struct RowScores {
  torch::Tensor score;  // (R)
  torch::Tensor sum;    // (B, G) sum of g over the rows of each sample
};

// Scores rows by an MLP whose first layer also adds the `context` of the sample:
//   h = relu(x W1' + b1 + context),  g = relu(h W2' + b2),  score = g w3' + b3
// x (R, F), context (B, H), weights laid out as in torch::nn::Linear.
RowScores score_rows(const torch::Tensor& x, const torch::nn::Linear& first,
                     const torch::Tensor& context, const torch::nn::Linear& second,
                     const torch::nn::Linear& last, const torch::Tensor& offset);

// Returns the sum of relu(x W' + b + context) over the rows of each sample (B, H).
torch::Tensor relu_linear_segment_sum(const torch::Tensor& x, const torch::nn::Linear& layer,
                                      const torch::Tensor& context, const torch::Tensor& offset);

// A ReLU layer with two inputs, one row per sample:
//   relu(x W' + b + context U')  (B, G);  x (B, H), context (B, C) without gradients
torch::Tensor relu_linear(const torch::Tensor& x, const torch::nn::Linear& layer,
                          const torch::Tensor& context, const torch::nn::Linear& context_layer);

}  // namespace yard
