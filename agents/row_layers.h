// Layers over the rows of all samples, each a product and one pass over memory for all that goes
// with it: LibTorch's own operations, one pass each, take as long as the products. What is learned
// has gradients; rows are given and have none.
// Dims: B samples, R rows, F features a row, H, G hidden units; offset (B + 1) int64: rows
// [offset[b], offset[b + 1]) are b's.
#pragma once

#include "agents/torch.h"

namespace yard {

struct RowScores {
  torch::Tensor score;  // (R)
  torch::Tensor sum;    // (B, G) of what was scored, over a sample's rows
};

// Scores rows by two layers, the first of which sees `context` of the sample, too:
//   h = relu(x W1' + b1 + context),  g = relu(h W2' + b2),  score = g w3' + b3
// x (R, F), context (B, H), weights as torch::nn::Linear has them.
RowScores score_rows(const torch::Tensor& x, const torch::nn::Linear& first,
                     const torch::Tensor& context, const torch::nn::Linear& second,
                     const torch::nn::Linear& last, const torch::Tensor& offset);

// Sums relu(x W' + b + context) over the rows of each sample (B, H).
torch::Tensor sum_rows(const torch::Tensor& x, const torch::nn::Linear& layer,
                       const torch::Tensor& context, const torch::Tensor& offset);

// A line of each sample by two layers at once, of what was learned and of what is given:
//   relu(x W' + b + c U')  (B, G);  x (B, H), c (B, C), which has no gradient
torch::Tensor cut_lines(const torch::Tensor& x, const torch::nn::Linear& layer,
                        const torch::Tensor& c, const torch::nn::Linear& given);

}  // namespace yard
