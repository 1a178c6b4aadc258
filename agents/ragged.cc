#include "agents/ragged.h"

#include <algorithm>

namespace yard {
namespace {

torch::Tensor sum(const torch::Tensor& rows, const torch::Tensor& offset) {
  const auto in = rows.contiguous();
  const int64_t samples = offset.size(0) - 1, width = in.size(1);
  auto out = torch::zeros({samples, width});
  const int64_t* at = offset.data_ptr<int64_t>();
  const float* from = in.data_ptr<float>();
  float* to = out.data_ptr<float>();
  for (int64_t b = 0; b < samples; ++b, to += width) {
    for (int64_t r = at[b]; r < at[b + 1]; ++r) {
      for (int64_t h = 0; h < width; ++h) to[h] += from[r * width + h];
    }
  }
  return out;
}

torch::Tensor expand(const torch::Tensor& lines, const torch::Tensor& offset) {
  const auto in = lines.contiguous();
  const int64_t samples = offset.size(0) - 1, width = in.size(1);
  const int64_t* at = offset.data_ptr<int64_t>();
  auto out = torch::empty({at[samples], width});
  const float* from = in.data_ptr<float>();
  float* to = out.data_ptr<float>();
  for (int64_t b = 0; b < samples; ++b, from += width) {
    for (int64_t r = at[b]; r < at[b + 1]; ++r, to += width) std::copy_n(from, width, to);
  }
  return out;
}

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct Sum : torch::autograd::Function<Sum> {
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& rows,
                               const torch::Tensor& offset) {
    context->save_for_backward({offset});
    return sum(rows, offset);
  }
  static variable_list backward(AutogradContext* context, variable_list grad) {
    return {expand(grad[0], context->get_saved_variables()[0]), torch::Tensor()};
  }
};

struct Expand : torch::autograd::Function<Expand> {
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& lines,
                               const torch::Tensor& offset) {
    context->save_for_backward({offset});
    return expand(lines, offset);
  }
  static variable_list backward(AutogradContext* context, variable_list grad) {
    return {sum(grad[0], context->get_saved_variables()[0]), torch::Tensor()};
  }
};

}  // namespace

torch::Tensor segment_sum(const torch::Tensor& rows, const torch::Tensor& offset) {
  return Sum::apply(rows, offset);
}

torch::Tensor expand_rows(const torch::Tensor& lines, const torch::Tensor& offset) {
  return Expand::apply(lines, offset);
}

}  // namespace yard
