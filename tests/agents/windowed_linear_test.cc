// Checks the linear layer over padded windows, forward and backward, against dense products.
#include "agents/kernels/windowed_linear.h"

#include <gtest/gtest.h>

namespace yard {
namespace {

const std::vector<int64_t> kOffsets = {0, 2, 2, 5, 6};
constexpr int64_t kSamples = 4, kMaxRows = 3;

// The whole windows, zero where there is no row (B, J F).
torch::Tensor window(const torch::Tensor& rows, const std::vector<int64_t>& offset,
                     int64_t max_rows) {
  const int64_t f = rows.size(1);
  auto out = torch::zeros({static_cast<int64_t>(offset.size()) - 1, max_rows * f});
  for (size_t b = 0; b + 1 < offset.size(); ++b) {
    const int64_t n = offset[b + 1] - offset[b];
    out[static_cast<int64_t>(b)].slice(0, 0, n * f) =
        rows.slice(0, offset[b], offset[b + 1]).flatten();
  }
  return out;
}

// Also with more samples than a block has.
TEST(FlatRows, ProductMatchesThePaddedWindow) {
  std::vector<int64_t> many = {0};
  for (int64_t b = 0; b < 300; ++b) many.push_back(many.back() + b * 7 % 12);
  for (const std::vector<int64_t>& offsets : {kOffsets, many, {0, 0, 0}}) {
    const int64_t samples = static_cast<int64_t>(offsets.size()) - 1;
    const auto rows = torch::randn({offsets.back(), 3});
    const auto weight = torch::randn({12 * 3, 5}, torch::requires_grad());
    const auto output_grad = torch::randn({samples, 5});
    const auto sums = windowed_linear(rows, weight, torch::tensor(offsets, torch::kInt64));
    (sums * output_grad).sum().backward();
    const auto gradient = weight.grad().clone();
    weight.mutable_grad() = torch::Tensor();
    const auto expected = window(rows, offsets, 12).matmul(weight);
    (expected * output_grad).sum().backward();
    EXPECT_LT((sums - expected).abs().max().item<double>(), 1e-4);
    EXPECT_LT((gradient - weight.grad()).abs().max().item<double>(), 1e-3);
  }
}

TEST(FlatRows, ChoicesAreExistingRowsThenTheNoOp) {
  const auto offset = torch::tensor(kOffsets, torch::kInt64);
  const auto scores = torch::randn({kSamples, kMaxRows + 1}, torch::requires_grad());
  const auto choices = pack_padded_scores(scores, offset);
  const std::vector<std::pair<int64_t, int64_t>> places = {{0, 0}, {0, 1}, {0, 3}, {1, 3}, {2, 0},
                                                           {2, 1}, {2, 2}, {2, 3}, {3, 0}, {3, 3}};
  ASSERT_EQ(choices.numel(), static_cast<int64_t>(places.size()));
  auto expected = torch::zeros_like(scores);
  for (size_t i = 0; i < places.size(); ++i) {
    const auto [b, a] = places[i];
    EXPECT_EQ(choices[static_cast<int64_t>(i)].item<float>(), scores[b][a].item<float>());
    expected[b][a] = static_cast<float>(i + 1);
  }
  (choices * torch::arange(1, 11)).sum().backward();
  EXPECT_TRUE(torch::equal(scores.grad(), expected));
}

}  // namespace
}  // namespace yard
