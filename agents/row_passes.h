// One pass over the rows of all samples for all that a layer does beside its product
// (row_layers.h). Apart from LibTorch, so that the compiler may make versions for wider vectors;
// all versions give the same bits. Dims: B samples, R rows, H columns; a line is of one sample, a
// row of one of its rows.
#pragma once

#include <cstdint>

namespace yard {

struct RowsOf {
  const int64_t* offset;  // (B + 1) rows [offset[b], offset[b + 1]) are b's
  int64_t samples, width;
};

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

// sum += rows, by sample (B, H)
void add_up(const RowsOf& of, const float* rows, float* sum);

// Of add_up() after add_and_cut(): the gradient before the cut, and the lines'.
void sum_gradient(const RowsOf& of, const float* rows, const float* sum_gradient, float* gradient,
                  float* lines_gradient);

// logits (B, width) += scores of rows, and of nothing (B) in the last column
void add_to_actions(const RowsOf& of, const float* score, const float* nothing, float* logits);

// score (R) = of (B, width)
void rows_of_actions(const RowsOf& of, const float* actions, float* score);

}  // namespace yard
