#include "agents/kernels/windowed_linear.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <vector>

#include "agents/kernels/dense.h"
#include "agents/kernels/products.h"

namespace yard {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Samples per product. Samples of similar length share a product, so that little padding is needed.
constexpr int64_t kBlockSamples = 128;

// Calls does(samples, x) for blocks of samples in the order of their length. x holds their rows,
// each sample padded to the longest of the block.
template <class Does>
void for_blocks(const torch::Tensor& rows, const torch::Tensor& offset, const Does& does) {
  const int64_t f = rows.size(1), samples = offset.numel() - 1;
  const int64_t* first = raw_data<int64_t>(offset);
  const auto count = [first](int64_t b) { return first[b + 1] - first[b]; };
  std::vector<int64_t> order(static_cast<size_t>(samples));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, count);
  std::vector<float> x;
  for (int64_t from = 0; from < samples; from += kBlockSamples) {
    const std::span block = std::span(order).subspan(
        static_cast<size_t>(from), static_cast<size_t>(std::min(kBlockSamples, samples - from)));
    const int64_t width = count(block.back()) * f;
    if (width == 0) continue;
    x.assign(block.size() * static_cast<size_t>(width), 0);
    float* to = x.data();
    for (const int64_t b : block) {
      std::copy_n(raw_data(rows) + first[b] * f, count(b) * f, to);
      to += width;
    }
    does(block, Matrix{x.data(), static_cast<int64_t>(block.size()), width});
  }
}

struct WindowedLinear : torch::autograd::Function<WindowedLinear> {
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& rows,
                               const torch::Tensor& weight, const torch::Tensor& offset) {
    YARD_CHECK(!rows.requires_grad(), "rows must not require gradients");
    const auto in = contiguous_without_gradient(rows), w = contiguous_without_gradient(weight);
    const int64_t h = w.size(1);
    const auto out = torch::zeros({offset.numel() - 1, h});
    std::vector<float> sums(static_cast<size_t>(kBlockSamples * h));
    for_blocks(in, offset, [&](std::span<const int64_t> samples, const Matrix& x) {
      YARD_CHECK(x.columns <= w.size(0), "rows must fit the window");
      multiply(x, {raw_data(w), x.columns, h}, sums.data());
      const float* from = sums.data();
      for (const int64_t b : samples) {
        std::copy_n(from, h, raw_data(out) + b * h);
        from += h;
      }
    });
    context->save_for_backward({in, w, offset});
    return out;
  }

  static variable_list backward(AutogradContext* context, variable_list grads) {
    const auto saved = context->get_saved_variables();
    const auto &rows = saved[0], &w = saved[1], &offset = saved[2];
    const auto grad = contiguous_without_gradient(grads[0]), of_weight = torch::zeros_like(w);
    const int64_t h = w.size(1);
    std::vector<float> lines(static_cast<size_t>(kBlockSamples * h));
    for_blocks(rows, offset, [&](std::span<const int64_t> samples, const Matrix& x) {
      float* to = lines.data();
      for (const int64_t b : samples) to = std::copy_n(raw_data(grad) + b * h, h, to);
      multiply(x.transpose(), {lines.data(), x.rows, h}, raw_data(of_weight),
               WriteMode::kAccumulate);
    });
    return {{}, of_weight, {}};
  }
};

}  // namespace

torch::Tensor windowed_linear(const torch::Tensor& rows, const torch::Tensor& weight,
                              const torch::Tensor& offset) {
  return WindowedLinear::apply(rows, weight, offset);
}

torch::Tensor pack_padded_scores(const torch::Tensor& scores, const torch::Tensor& offset) {
  const int64_t samples = offset.numel() - 1, width = scores.size(1);
  const int64_t* first = raw_data<int64_t>(offset);
  const auto place = torch::empty({first[samples] + samples}, torch::kInt64);
  int64_t* to = raw_data<int64_t>(place);
  for (int64_t b = 0; b < samples; ++b) {
    const int64_t count = first[b + 1] - first[b];
    YARD_CHECK(count < width, "rows must fit the window");
    for (int64_t r = 0; r < count; ++r) *to++ = b * width + r;
    *to++ = b * width + width - 1;
  }
  return scores.flatten().index_select(0, place);
}

}  // namespace yard
