// Linear layers over a fixed-size window, where each row of a sample has weights of its own.
// Dims: B samples, R rows of all samples, J rows per sample at most, F features per row, H hidden
// units; offset (B + 1) int64: sample b has rows [offset[b], offset[b + 1]).
#pragma once

#include "agents/kernels/torch.h"

namespace yard {

// Multiplies rows (R, F), without gradients, by the weights of their positions (J F, H) and sums
// over each sample (B, H). The result equals the product with the zero-padded window.
torch::Tensor windowed_linear(const torch::Tensor& rows, const torch::Tensor& weight,
                              const torch::Tensor& offset);

// Returns the scores of existing rows and of no-ops (R + B) from padded `scores` (B, J + 1).
torch::Tensor pack_padded_scores(const torch::Tensor& scores, const torch::Tensor& offset);

}  // namespace yard
