// Layers whose input or output is as wide as the window: each row of a sample has its place there,
// and weights of its own.
// Dims: B samples, R rows of all samples together, J rows a sample at most, F features a row, H
// hidden units; offset (B + 1) int64: rows [offset[b], offset[b + 1]) are b's.
#pragma once

#include "agents/torch.h"

namespace yard {

// Rows (R, F), which have no gradient, by the weights (J F, H) of their places, summed over each
// sample: the product of the whole window, zero where there is no row, but that nothing is computed
// there (B, H).
torch::Tensor at_places(const torch::Tensor& rows, const torch::Tensor& weight,
                        const torch::Tensor& offset);

// Of `scores` (B, J + 1) what stands at rows that exist, and at the end: (R + B), as choices lie.
torch::Tensor at_choices(const torch::Tensor& scores, const torch::Tensor& offset);

}  // namespace yard
