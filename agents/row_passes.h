// One pass over rows for all that a layer does beside its product (row_layers.h). Apart from
// LibTorch, so that the compiler may make versions for wider vectors; all versions give the same
// bits. Dims: B samples, R rows, H columns; a line is of one sample, a row of one of its rows.
#pragma once

#include <cstdint>

namespace yard {

// Some samples' rows, one after the other: what follows begins at the first of each.
struct RowsOf {
  const int64_t* offset;  // (B + 1) rows [offset[b], offset[b + 1]) of all are b's
  int64_t samples, width;

  int64_t begin(int64_t b) const { return offset[b] - offset[0]; }
  int64_t end(int64_t b) const { return offset[b + 1] - offset[0]; }
};

// out = (rows - mean) * scale, (R, H)
void standardise(int64_t count, int64_t width, const float* mean, const float* scale,
                 const float* rows, float* out);

// rows = relu(rows + bias + lines of their samples), (R, H)
void add_and_cut(const RowsOf& of, const float* bias, const float* lines, float* rows);

// rows = relu(rows + bias); score = rows . weight + shift (R); sum += rows, by sample (B, H)
void cut_and_score(const RowsOf& of, const float* bias, const float* weight, float shift,
                   float* rows, float* score, float* sum);

// Of cut_and_score(), where the rows came out as `rows`: their gradient before they were cut,
// (R, H), and what the weight's (H) and the bias' (H) become more by.
void score_gradient(const RowsOf& of, const float* rows, const float* weight, const float* of_score,
                    const float* sum_gradient, float* gradient, float* weight_gradient,
                    float* bias_gradient);

// gradient = where rows came out above 0, by which the lines' (B, H) become more, too
void cut_gradient(const RowsOf& of, const float* rows, float* gradient, float* lines_gradient);

// sum += relu(rows + bias + lines of their samples), by sample (B, H)
void cut_and_sum(const RowsOf& of, const float* bias, const float* lines, const float* rows,
                 float* sum);

// Of cut_and_sum(): in the place of the rows their gradient; by it the lines' become more, too.
void sum_gradient(const RowsOf& of, const float* bias, const float* lines,
                  const float* sum_gradient, float* rows, float* lines_gradient);

}  // namespace yard
