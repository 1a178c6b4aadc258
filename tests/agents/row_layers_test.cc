// Checks layers over ragged rows against LibTorch's own operations: outputs, and the gradients of
// all parameters.
#include "agents/kernels/row_layers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <vector>

namespace yard {
namespace {

using TorchTensors = std::vector<torch::Tensor>;

struct Layers {
  torch::nn::Linear first, second, last;
  torch::Tensor context;  // (B, H)

  Layers(int64_t f, int64_t h, int64_t g, int64_t samples)
      : first(f, h), second(h, g), last(g, 1), context(torch::randn({samples, h})) {
    context.requires_grad_(true);
  }
  TorchTensors learned() const {
    return {first->weight, first->bias, second->weight, second->bias,
            last->weight,  last->bias,  context};
  }
};

torch::Tensor offsets(const std::vector<int64_t>& rows) {
  std::vector<int64_t> out = {0};
  for (const int64_t n : rows) out.push_back(out.back() + n);
  return torch::tensor(out, torch::kInt64);
}

// The sample of each row (R).
torch::Tensor samples_of(const std::vector<int64_t>& rows) {
  std::vector<int64_t> out;
  for (size_t b = 0; b < rows.size(); ++b) out.insert(out.end(), static_cast<size_t>(rows[b]), b);
  return torch::tensor(out, torch::kInt64);
}

torch::Tensor summed(const torch::Tensor& rows, const torch::Tensor& samples, int64_t count) {
  return torch::zeros({count, rows.size(1)}).index_add(0, samples, rows);
}

TorchTensors gradients(const torch::Tensor& loss, const TorchTensors& learned) {
  for (const auto& t : learned) const_cast<torch::Tensor&>(t).mutable_grad() = torch::Tensor();
  loss.backward();
  TorchTensors out;
  for (const auto& t : learned) {
    out.push_back(t.grad().defined() ? t.grad().clone() : torch::zeros_like(t));
  }
  return out;
}

void expect_same(const TorchTensors& a, const TorchTensors& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(a[i].sizes(), b[i].sizes()) << i;
    if (a[i].numel() == 0) continue;
    // Sums over thousands of rows are as exact as their largest element.
    const double most = std::max(1.0, b[i].abs().max().item<double>());
    EXPECT_LT((a[i] - b[i]).abs().max().item<double>(), 5e-5 * most) << i;
  }
}

// Rows per sample. The last cases have several blocks, one of them with a single sample.
const std::vector<std::vector<int64_t>> kLayerRows = {
    {3, 0, 1, 5}, {1}, {0, 0, 2}, {64, 7, 33}, {0, 0}, {1024, 1}, {700, 0, 400, 1500, 3}};
const std::vector<std::pair<int64_t, int64_t>> kWidths = {{16, 16}, {5, 3}, {40, 33}, {128, 128}};

TEST(RowLayers, ScoresMatchLibTorch) {
  torch::manual_seed(1);
  for (const auto& rows : kLayerRows) {
    for (const auto& [h, g] : kWidths) {
      const auto offset = offsets(rows), samples = samples_of(rows);
      const auto count = static_cast<int64_t>(rows.size());
      Layers net(8, h, g, count);
      const auto x = torch::randn({samples.size(0), 8});
      const auto score_grad = torch::randn({samples.size(0)}), sum_grad = torch::randn({count, g});

      for (const bool of_score : {true, false}) {  // false: loss of the sum alone
        const auto fast = score_rows(x, net.first, net.context, net.second, net.last, offset);
        const auto a = torch::relu(net.first->forward(x) + net.context.index_select(0, samples));
        const auto b = torch::relu(net.second->forward(a));
        const auto score = net.last->forward(b).squeeze(-1), sum = summed(b, samples, count);
        expect_same({fast.score, fast.sum}, {score, sum});
        const auto loss = [&](const torch::Tensor& s, const torch::Tensor& all) {
          const auto of_sum = (all * sum_grad).sum();
          return of_score ? of_sum + (s * score_grad).sum() : of_sum;
        };
        expect_same(gradients(loss(fast.score, fast.sum), net.learned()),
                    gradients(loss(score, sum), net.learned()));
      }
    }
  }
}

TEST(RowLayers, SumsMatchLibTorch) {
  torch::manual_seed(2);
  for (const auto& rows : kLayerRows) {
    for (const auto& [h, g] : kWidths) {
      const auto offset = offsets(rows), samples = samples_of(rows);
      const auto count = static_cast<int64_t>(rows.size());
      Layers net(6, h, g, count);
      const auto x = torch::randn({samples.size(0), 9}).slice(1, 0, 6);  // not contiguous
      const auto sum_grad = torch::randn({count, h});
      const TorchTensors learned = {net.first->weight, net.first->bias, net.context};
      const auto fast = relu_linear_segment_sum(x, net.first, net.context, offset);
      const auto a = torch::relu(net.first->forward(x) + net.context.index_select(0, samples));
      const auto sum = summed(a, samples, count);
      expect_same({fast}, {sum});
      expect_same(gradients((fast * sum_grad).sum(), learned),
                  gradients((sum * sum_grad).sum(), learned));
    }
  }
}

TEST(RowLayers, ReluLinearMatchesLibTorch) {
  torch::manual_seed(3);
  for (const int64_t samples : {0, 1, 7, 300}) {
    for (const auto& [h, g] : kWidths) {
      torch::nn::Linear layer(h, g);
      torch::nn::Linear given(torch::nn::LinearOptions(6, g).bias(false));
      const auto x = torch::randn({samples, h}).requires_grad_(true);
      const auto c = torch::randn({samples, 12}).slice(1, 0, 6);  // not contiguous
      const auto out_grad = torch::randn({samples, g});
      const TorchTensors learned = {x, layer->weight, layer->bias, given->weight};
      const auto fast = relu_linear(x, layer, c, given);
      const auto slow = torch::relu(layer->forward(x) + given->forward(c));
      expect_same({fast}, {slow});
      expect_same(gradients((fast * out_grad).sum(), learned),
                  gradients((slow * out_grad).sum(), learned));
    }
  }
}

TEST(RowLayers, WorkWithoutGradients) {
  torch::NoGradGuard no_grad;
  Layers net(4, 8, 8, 2);
  const auto out = score_rows(torch::randn({3, 4}), net.first, net.context, net.second, net.last,
                              offsets({1, 2}));
  EXPECT_FALSE(out.score.requires_grad());
  EXPECT_EQ(out.sum.size(0), 2);
}

}  // namespace
}  // namespace yard
