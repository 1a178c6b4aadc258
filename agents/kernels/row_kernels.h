// Elementwise kernels that follow the matrix products of row_layers.h and do not use LibTorch.
// Versions of a kernel for wider SIMD vectors give bit-identical results. Dims: B samples, R rows,
// H columns; `lines` (B, H) has one vector per sample.
#pragma once

#include <cstdint>

namespace yard {

// The rows of a range of consecutive samples. Pointers passed beside it point to the first sample
// or the first row of this range.
struct RowSegments {
  const int64_t* offset;  // (B + 1) sample b has the rows [offset[b], offset[b + 1]) of all rows
  int64_t samples, width;

  int64_t begin(int64_t b) const { return offset[b] - offset[0]; }
  int64_t end(int64_t b) const { return offset[b + 1] - offset[0]; }
};

// out = (rows - mean) * scale, (R, H)
void standardise(int64_t count, int64_t width, const float* mean, const float* scale,
                 const float* rows, float* out);

// rows = relu(rows + bias + line of the row's sample), (R, H)
void bias_relu_(const RowSegments& of, const float* bias, const float* lines, float* rows);

// rows = relu(rows + bias); score = rows . weight + shift (R); sum += rows, by sample (B, H)
void relu_score(const RowSegments& of, const float* bias, const float* weight, float shift,
                float* rows, float* score, float* sum);

// Backward of relu_score(); `rows` is its output. Writes the gradient before the ReLU (R, H) and
// adds to those of weight (H) and bias (H).
void relu_score_backward(const RowSegments& of, const float* rows, const float* weight,
                         const float* of_score, const float* sum_gradient, float* gradient,
                         float* weight_gradient, float* bias_gradient);

// ReLU's backward: zeroes the gradient where rows are 0, adds it to the lines' gradient (B, H).
void relu_backward(const RowSegments& of, const float* rows, float* gradient,
                   float* lines_gradient);

// sum += relu(rows + bias + line of the row's sample), by sample (B, H)
void relu_segment_sum(const RowSegments& of, const float* bias, const float* lines,
                      const float* rows, float* sum);

// Backward of relu_segment_sum(): overwrites rows with their gradient, adds it to the lines'.
void relu_segment_sum_backward(const RowSegments& of, const float* bias, const float* lines,
                               const float* sum_gradient, float* rows, float* lines_gradient);

}  // namespace yard
