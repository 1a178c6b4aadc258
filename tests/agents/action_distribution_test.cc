// Checks the softmax kernels over ragged samples, values and gradients, against LibTorch's own
// operations on one sample at a time.
#include "agents/networks/action_distribution.h"

#include <gtest/gtest.h>

#include <vector>

namespace yard {
namespace {

using torch::indexing::Slice;

const std::vector<std::vector<int64_t>> kRows = {{3, 0, 1, 5}, {1}, {0, 0, 2}, {64, 7, 33}};

struct Case {
  torch::Tensor offset, logits, prior, action;
  int64_t samples;

  explicit Case(const std::vector<int64_t>& rows) : samples(static_cast<int64_t>(rows.size())) {
    std::vector<int64_t> first = {0}, chosen;
    for (const int64_t n : rows) {
      chosen.push_back(n == 0 ? 128 : first.size() % 2 == 0 ? 128 : n - 1);
      first.push_back(first.back() + n);
    }
    offset = torch::tensor(first, torch::kInt64);
    action = torch::tensor(chosen, torch::kInt64);
    logits = (torch::randn({first.back() + samples}) * 3).requires_grad_(true);
    prior = torch::randn({first.back() + samples});
    // One choice of the largest sample is illegal.
    if (first.back() > 50) {
      torch::NoGradGuard no_grad;
      logits[2].add_(-1e9);
      prior[2].add_(-1e9);
    }
  }

  torch::Tensor of(const torch::Tensor& choices, int64_t b) const {
    const auto at = [&](int64_t i) { return offset[i].item<int64_t>() + i; };
    return choices.index({Slice(at(b), at(b + 1))});
  }
};

// Compares values and gradients. `slow(b)` returns one sample's value, `fast()` those of all (B).
template <class Fast, class Slow>
void expect_same(const Case& c, const Fast& fast, const Slow& slow) {
  const auto weight = torch::randn({c.samples});
  const auto gradient = [&](const torch::Tensor& out) {
    const_cast<torch::Tensor&>(c.logits).mutable_grad() = torch::Tensor();
    (out * weight).sum().backward();
    return c.logits.grad().clone();
  };
  std::vector<torch::Tensor> each;
  for (int64_t b = 0; b < c.samples; ++b) each.push_back(slow(b));
  const auto expected = torch::stack(each), got = fast();
  EXPECT_TRUE(torch::allclose(got, expected, 1e-4, 1e-5)) << got << expected;
  const auto g = gradient(got), e = gradient(expected);
  EXPECT_TRUE(torch::allclose(g, e, 1e-4, 1e-5)) << (g - e).abs().max();
}

class Choices : public ::testing::TestWithParam<std::vector<int64_t>> {
 protected:
  Choices() { torch::manual_seed(3); }
};

TEST_P(Choices, ValuesAndGradientsMatchLibTorch) {
  const Case c(GetParam());
  const auto log_p = [&](int64_t b) { return torch::log_softmax(c.of(c.logits, b), 0); };
  expect_same(
      c, [&] { return action_stats(c.logits, c.action, c.offset).log_prob; },
      [&](int64_t b) {
        const auto all = log_p(b);
        return all[std::min(c.action[b].item<int64_t>(), all.numel() - 1)];
      });
  expect_same(
      c, [&] { return action_stats(c.logits, c.action, c.offset).entropy; },
      [&](int64_t b) { return -(log_p(b).exp() * log_p(b)).sum(); });
  expect_same(
      c,
      [&] {
        const ActionStats both = action_stats(c.logits, c.action, c.offset);
        return both.log_prob - 0.3 * both.entropy;
      },
      [&](int64_t b) {
        const auto all = log_p(b);
        return all[std::min(c.action[b].item<int64_t>(), all.numel() - 1)] +
               0.3 * (all.exp() * all).sum();
      });
  expect_same(
      c, [&] { return logit_minus_best(c.logits, c.action, c.offset); },
      [&](int64_t b) {
        const auto all = c.of(c.logits, b);
        return all[std::min(c.action[b].item<int64_t>(), all.numel() - 1)] - all.max();
      });
  expect_same(
      c, [&] { return kl_divergence(c.logits, c.prior, c.offset); },
      [&](int64_t b) {
        return (log_p(b).exp() * (log_p(b) - torch::log_softmax(c.of(c.prior, b), 0))).sum();
      });
}

TEST_P(Choices, ArgmaxAndProbabilitiesMatchLibTorch) {
  const Case c(GetParam());
  const auto best = argmax_action(c.logits, c.offset), all = log_probs(c.logits, c.offset);
  EXPECT_FALSE(all.requires_grad());
  for (int64_t b = 0; b < c.samples; ++b) {
    EXPECT_EQ(best[b].item<int64_t>(), c.of(c.logits, b).argmax().item<int64_t>());
    EXPECT_NEAR(c.of(all, b).exp().sum().item<double>(), 1, 1e-5);
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, Choices, ::testing::ValuesIn(kRows));

TEST(ActionLogits, FollowTheOrderOfTheChoices) {
  const auto offset = torch::tensor({0, 2, 2, 5}, torch::kInt64);
  const auto prior = torch::arange(8, torch::kFloat32);
  const auto score = torch::tensor({10.F, 20.F, 30.F, 40.F, 50.F}).requires_grad_(true);
  const auto nothing = torch::tensor({{1.F}, {2.F}, {3.F}}).requires_grad_(true);
  const auto logits = action_logits(prior, score, nothing, offset);
  EXPECT_TRUE(
      torch::equal(logits, prior + torch::tensor({10.F, 20.F, 1.F, 2.F, 30.F, 40.F, 50.F, 3.F})));
  (logits * (torch::arange(8, torch::kFloat32) + 1)).sum().backward();
  EXPECT_TRUE(torch::equal(score.grad(), torch::tensor({1.F, 2.F, 5.F, 6.F, 7.F})));
  EXPECT_TRUE(torch::equal(nothing.grad(), torch::tensor({{3.F}, {4.F}, {8.F}})));
}

}  // namespace
}  // namespace yard
