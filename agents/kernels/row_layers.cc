#include "agents/kernels/row_layers.h"

#include <algorithm>

#include "agents/kernels/dense.h"
#include "agents/kernels/products.h"
#include "agents/kernels/row_kernels.h"

namespace yard {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Rows which pass through product and pass together, so that intermediate results stay in cache.
constexpr int64_t kBlockRows = 1024;

float* at(const torch::Tensor& t, int64_t row = 0) {
  return raw_data(t) + (t.dim() > 1 ? row * t.size(1) : row);
}

Matrix matrix(const torch::Tensor& t) { return {at(t), t.size(0), t.size(1)}; }

// Rows of whole samples.
struct Block {
  const int64_t* offset;
  int64_t sample, samples, row, rows;

  RowSegments of(int64_t width) const { return {offset, samples, width}; }
  Matrix part(const torch::Tensor& t) const { return {at(t, row), rows, t.size(1)}; }
  Matrix all(const torch::Tensor& scratch) const { return {at(scratch), rows, scratch.size(1)}; }
};

template <class Does>
void for_blocks(const torch::Tensor& offset, const Does& does) {
  const int64_t* first = raw_data<int64_t>(offset);
  const int64_t samples = offset.numel() - 1;
  for (int64_t b = 0, e = 0; b < samples; b = e) {
    do {
      ++e;
    } while (e < samples && first[e + 1] - first[b] <= kBlockRows);
    does(Block{first + b, b, e - b, first[b], first[e] - first[b]});
  }
}

// Returns scratch memory for the rows of the largest block.
torch::Tensor scratch_of(const torch::Tensor& offset, int64_t width) {
  int64_t rows = 0;
  for_blocks(offset, [&](const Block& block) { rows = std::max(rows, block.rows); });
  return torch::empty({rows, width});
}

struct ScoreRows : torch::autograd::Function<ScoreRows> {
  static variable_list forward(AutogradContext* context, const torch::Tensor& x,
                               const torch::Tensor& w1, const torch::Tensor& b1,
                               const torch::Tensor& c, const torch::Tensor& w2,
                               const torch::Tensor& b2, const torch::Tensor& w3,
                               const torch::Tensor& b3, const torch::Tensor& offset) {
    const auto in = contiguous_without_gradient(x), lines = contiguous_without_gradient(c);
    const int64_t rows = in.size(0), wide = w1.size(0), last = w2.size(0);
    const auto h = torch::empty({rows, wide}), g = torch::empty({rows, last});
    const auto score = torch::empty({rows}), sum = torch::zeros({lines.size(0), last});
    for_blocks(offset, [&](const Block& block) {
      multiply(block.part(in), matrix(w1).transpose(), at(h, block.row));
      bias_relu_(block.of(wide), at(b1), at(lines, block.sample), at(h, block.row));
      multiply(block.part(h), matrix(w2).transpose(), at(g, block.row));
      relu_score(block.of(last), at(b2), at(w3), *at(b3), at(g, block.row), at(score, block.row),
                 at(sum, block.sample));
    });
    context->save_for_backward({in, h, g, w2, w3, offset});
    return {score, sum};
  }

  static variable_list backward(AutogradContext* context, variable_list grads) {
    const auto saved = context->get_saved_variables();
    const auto &x = saved[0], &h = saved[1], &g = saved[2], &w2 = saved[3], &w3 = saved[4],
               &offset = saved[5];
    const int64_t wide = h.size(1), last = g.size(1);
    const auto of_score = contiguous_without_gradient(grads[0]),
               of_sum = contiguous_without_gradient(grads[1]);
    // Computed transposed: the few features then make short columns, not short rows.
    const auto d_w1 = torch::zeros({x.size(1), wide}), d_w2 = torch::zeros_like(w2),
               d_b2 = torch::zeros({last}), d_w3 = torch::zeros_like(w3),
               d_c = torch::zeros({offset.numel() - 1, wide});
    const auto d_g = scratch_of(offset, last), d_h = scratch_of(offset, wide);
    for_blocks(offset, [&](const Block& block) {
      relu_score_backward(block.of(last), at(g, block.row), at(w3), at(of_score, block.row),
                          at(of_sum, block.sample), at(d_g), at(d_w3), at(d_b2));
      multiply(block.all(d_g).transpose(), block.part(h), at(d_w2), WriteMode::kAccumulate);
      multiply(block.all(d_g), matrix(w2), at(d_h));
      relu_backward(block.of(wide), at(h, block.row), at(d_h), at(d_c, block.sample));
      multiply(block.part(x).transpose(), block.all(d_h), at(d_w1), WriteMode::kAccumulate);
    });
    return {{}, d_w1.t(), d_c.sum(0), d_c, d_w2, d_b2, d_w3, of_score.sum().view({1}), {}};
  }
};

// The backward pass recomputes the rows, which is cheaper than keeping them.
struct SegmentSum : torch::autograd::Function<SegmentSum> {
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& x,
                               const torch::Tensor& w, const torch::Tensor& b,
                               const torch::Tensor& c, const torch::Tensor& offset) {
    const auto in = contiguous_without_gradient(x), lines = contiguous_without_gradient(c);
    const auto sum = torch::zeros_like(lines), rows = scratch_of(offset, w.size(0));
    for_blocks(offset, [&](const Block& block) {
      multiply(block.part(in), matrix(w).transpose(), at(rows));
      relu_segment_sum(block.of(w.size(0)), at(b), at(lines, block.sample), at(rows),
                       at(sum, block.sample));
    });
    context->save_for_backward({in, w, b, lines, offset});
    return sum;
  }

  static variable_list backward(AutogradContext* context, variable_list grads) {
    const auto saved = context->get_saved_variables();
    const auto &x = saved[0], &w = saved[1], &b = saved[2], &lines = saved[3], &offset = saved[4];
    const auto of_sum = contiguous_without_gradient(grads[0]), rows = scratch_of(offset, w.size(0));
    const auto d_w = torch::zeros({x.size(1), w.size(0)}), d_c = torch::zeros_like(lines);
    for_blocks(offset, [&](const Block& block) {
      multiply(block.part(x), matrix(w).transpose(), at(rows));
      relu_segment_sum_backward(block.of(w.size(0)), at(b), at(lines, block.sample),
                                at(of_sum, block.sample), at(rows), at(d_c, block.sample));
      multiply(block.part(x).transpose(), block.all(rows), at(d_w), WriteMode::kAccumulate);
    });
    return {{}, d_w.t(), d_c.sum(0), d_c, {}};
  }
};

struct ReluLinear : torch::autograd::Function<ReluLinear> {
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& x,
                               const torch::Tensor& w, const torch::Tensor& b,
                               const torch::Tensor& c, const torch::Tensor& u) {
    const auto in = contiguous_without_gradient(x), given = contiguous_without_gradient(c);
    const auto out = torch::empty({in.size(0), w.size(0)}), no_line = torch::zeros_like(b);
    multiply(matrix(in), matrix(w).transpose(), at(out));
    multiply(matrix(given), matrix(u).transpose(), at(out), WriteMode::kAccumulate);
    const int64_t all[] = {0, in.size(0)};
    bias_relu_({all, 1, w.size(0)}, at(b), at(no_line), at(out));
    context->save_for_backward({in, w, given, out});
    return out;
  }

  static variable_list backward(AutogradContext* context, variable_list grads) {
    const auto saved = context->get_saved_variables();
    const auto &x = saved[0], &w = saved[1], &c = saved[2], &out = saved[3];
    const auto d = grads[0].contiguous().clone(), d_b = torch::zeros({w.size(0)});
    const auto d_x = torch::empty_like(x), d_w = torch::empty_like(w),
               d_u = torch::empty({c.size(1), w.size(0)});
    const int64_t all[] = {0, x.size(0)};
    relu_backward({all, 1, w.size(0)}, at(out), at(d), at(d_b));
    multiply(matrix(d), matrix(w), at(d_x));
    multiply(matrix(d).transpose(), matrix(x), at(d_w));
    multiply(matrix(c).transpose(), matrix(d), at(d_u));
    return {d_x, d_w, d_b, {}, d_u.t()};
  }
};

}  // namespace

RowScores score_rows(const torch::Tensor& x, const torch::nn::Linear& first,
                     const torch::Tensor& context, const torch::nn::Linear& second,
                     const torch::nn::Linear& last, const torch::Tensor& offset) {
  const auto out = ScoreRows::apply(x, first->weight, first->bias, context, second->weight,
                                    second->bias, last->weight, last->bias, offset);
  return {out[0], out[1]};
}

torch::Tensor relu_linear_segment_sum(const torch::Tensor& x, const torch::nn::Linear& layer,
                                      const torch::Tensor& context, const torch::Tensor& offset) {
  return SegmentSum::apply(x, layer->weight, layer->bias, context, offset);
}

torch::Tensor relu_linear(const torch::Tensor& x, const torch::nn::Linear& layer,
                          const torch::Tensor& context, const torch::nn::Linear& context_layer) {
  return ReluLinear::apply(x, layer->weight, layer->bias, context, context_layer->weight);
}

}  // namespace yard
