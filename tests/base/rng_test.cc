#include "env/base/core/rng.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <type_traits>
#include <utility>
#include <vector>

namespace yard {
namespace {

static_assert(std::is_trivially_copyable_v<Rng>);
static_assert(std::has_unique_object_representations_v<Rng>, "no padding: states compare by bytes");

using Words = std::array<uint32_t, 4>;

Words philox(Words counter, uint64_t key) {
  uint32_t words[4] = {counter[0], counter[1], counter[2], counter[3]};
  philox4x32(words, key);
  return {words[0], words[1], words[2], words[3]};
}

TEST(Rng, PhiloxMatchesKnownAnswers) {
  // Known-answer vectors of Random123.
  constexpr uint32_t kOnes = 0xffffffffu;
  EXPECT_EQ(philox({0, 0, 0, 0}, 0), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({kOnes, kOnes, kOnes, kOnes}, ~uint64_t{0}),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0x299f31d0a4093822u),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Rng, DrawsTheBlocksInOrder) {
  Rng rng(0);
  for (uint32_t block = 0; block < 3; ++block) {
    for (const uint32_t word : philox({block, 0, 0, 0}, 0)) EXPECT_EQ(rng.next(), word);
  }
}

TEST(Rng, CopyContinuesFromTheSameState) {
  for (int before = 0; before < 9; ++before) {
    Rng a(7);
    for (int i = 0; i < before; ++i) a.next();
    Rng b = a;
    for (int i = 0; i < 9; ++i) EXPECT_EQ(a.next64(), b.next64());
  }
}

TEST(Rng, ChildDoesNotDependOnParentDraws) {
  Rng parent(7);
  Rng early = parent.split(3);
  for (int i = 0; i < 10; ++i) parent.next();
  EXPECT_EQ(early.next64(), parent.split(3).next64());
}

TEST(Rng, DifferentSeedsAndKeysGiveDifferentStreams) {
  constexpr uint64_t kFar = uint64_t{1} << 40;
  std::set<std::pair<uint64_t, uint64_t>> first;
  size_t streams = 0;
  const auto enter = [&](Rng rng) {
    const uint64_t a = rng.next64();
    first.emplace(a, rng.next64());
    ++streams;
  };
  for (uint64_t seed : {uint64_t{0}, uint64_t{1}, kFar}) {
    const Rng root(seed);
    enter(root);
    for (uint64_t env = 0; env < 100; ++env) {
      enter(root.split(env));
      for (uint64_t episode = 0; episode < 100; ++episode) enter(root.split(env).split(episode));
    }
    enter(root.split(kFar));
  }
  EXPECT_EQ(first.size(), streams);
}

TEST(Rng, BelowIsUniformAndInRange) {
  Rng rng(11);
  constexpr uint32_t kBound = 6;
  constexpr int kDraws = 60000;
  std::array<int, kBound> seen{};
  for (int i = 0; i < kDraws; ++i) {
    const uint32_t x = rng.below(kBound);
    ASSERT_LT(x, kBound);
    ++seen[x];
  }
  double chi2 = 0;
  for (const int n : seen) chi2 += (n - 1e4) * (n - 1e4) / 1e4;
  EXPECT_LT(chi2, 20.5);  // 5 degrees of freedom, 0.1 % level
  EXPECT_EQ(rng.below(1), 0u);
}

TEST(Rng, BelowIsUnbiasedForLargeBounds) {
  // With a bound of 3 * 2^30, a plain product would draw multiples of three twice as often.
  Rng rng(12);
  constexpr int kDraws = 30000;
  int multiples = 0;
  for (int i = 0; i < kDraws; ++i) multiples += rng.below(3u << 30) % 3 == 0;
  EXPECT_NEAR(multiples, kDraws / 3.0, 5 * 82);  // five standard deviations
}

TEST(Rng, UniformFillsTheHalfOpenUnitInterval) {
  Rng rng(13);
  double sum = 0, low = 1, high = 0;
  constexpr int kDraws = 100000;
  for (int i = 0; i < kDraws; ++i) {
    const double u = rng.uniform();
    ASSERT_GE(u, 0.0);
    ASSERT_LT(u, 1.0);
    sum += u;
    low = std::min(low, u);
    high = std::max(high, u);
  }
  EXPECT_NEAR(sum / kDraws, 0.5, 0.005);
  EXPECT_LT(low, 1e-3);
  EXPECT_GT(high, 1 - 1e-3);
}

TEST(Rng, NormalAndExponentialHaveTheirMoments) {
  Rng rng(14);
  constexpr int kDraws = 200000;
  double n1 = 0, n2 = 0, n4 = 0, e1 = 0, e2 = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double n = rng.normal(), e = rng.exponential();
    ASSERT_TRUE(std::isfinite(n));
    ASSERT_GE(e, 0.0);
    n1 += n, n2 += n * n, n4 += n * n * n * n, e1 += e, e2 += e * e;
  }
  EXPECT_NEAR(n1 / kDraws, 0, 0.012);
  EXPECT_NEAR(n2 / kDraws, 1, 0.016);
  EXPECT_NEAR(n4 / kDraws, 3, 0.12);
  EXPECT_NEAR(e1 / kDraws, 1, 0.012);
  EXPECT_NEAR(e2 / kDraws, 2, 0.06);
}

TEST(RngDeathTest, BelowRequiresAPositiveBound) { EXPECT_DEATH(Rng(1).below(0), "positive bound"); }

}  // namespace
}  // namespace yard
