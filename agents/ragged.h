// Sums over the rows of each sample, and the reverse: one line per sample handed to all its rows.
// Each is the other's gradient. (LibTorch's index_add and index_select would do, a microsecond a
// row.) Dims: B samples, R rows, H columns; offset (B + 1) int64: rows [offset[b], offset[b + 1])
// are b's.
#pragma once

#include <torch/torch.h>

namespace yard {

torch::Tensor segment_sum(const torch::Tensor& rows,
                          const torch::Tensor& offset);  // (R, H) -> (B, H)
torch::Tensor expand_rows(const torch::Tensor& lines,
                          const torch::Tensor& offset);  // (B, H) -> (R, H)

}  // namespace yard
