// Intervals and merging, against numbers from tables and textbooks.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "env/base/core/normal.h"
#include "experiments/stats/intervals.h"

namespace yard {
namespace {

TEST(Statistics, QuantilesMatchTheTables) {
  EXPECT_NEAR(normal_quantile(0.975), 1.959964, 1e-6);
  EXPECT_NEAR(normal_quantile(0.5), 0, 1e-12);
  EXPECT_NEAR(normal_cdf(-1.281552), 0.1, 1e-6);
  EXPECT_NEAR(student_quantile(0.975, 1), 12.706205, 1e-6);
  EXPECT_NEAR(student_quantile(0.975, 5), 2.570582, 1e-6);
  EXPECT_NEAR(student_quantile(0.95, 30), 1.697261, 1e-6);
}

// "Spatial test data" of Efron and Tibshirani, An Introduction to the Bootstrap (1993), table 14.1.
// The book gives (115.8, 259.6) as the 90 % BCa interval of A's variance, and (100.8, 233.9) as the
// percentile interval.
TEST(Statistics, BcaGivesThePublishedIntervalOfAVariance) {
  const std::vector<double> a = {48, 36, 20, 29, 42, 42, 20, 42, 22, 41, 45, 14, 6,
                                 0,  33, 28, 34, 4,  32, 24, 47, 41, 24, 26, 30, 41};
  const auto variance = [&](const SampledIndices& picks) {
    double sum = 0, squares = 0;
    for (const int i : picks[0]) {
      sum += a[static_cast<size_t>(i)];
      squares += a[static_cast<size_t>(i)] * a[static_cast<size_t>(i)];
    }
    const auto n = static_cast<double>(picks[0].size());
    return squares / n - sum / n * sum / n;
  };
  std::vector<int> all(a.size());
  std::iota(all.begin(), all.end(), 0);
  EXPECT_NEAR(variance({all}), 171.5, 0.05);
  const Interval interval =
      bca_interval({static_cast<int>(a.size())}, variance, 0.90, Rng(1), 20000);
  // The book drew 2,000 samples: its ends are off by a few units, too.
  EXPECT_NEAR(interval.lo, 115.8, 4);
  EXPECT_NEAR(interval.hi, 259.6, 8);
}

TEST(Statistics, BcaIsTheSameForTheSameSeed) {
  const std::vector<double> values = {1, 4, 2, 8, 5, 7};
  const auto mean = [&](const SampledIndices& picks) {
    double sum = 0;
    for (const int i : picks[0]) sum += values[static_cast<size_t>(i)];
    return sum / static_cast<double>(picks[0].size());
  };
  const Interval once = bca_interval({6}, mean, 0.95, Rng(7));
  const Interval again = bca_interval({6}, mean, 0.95, Rng(7));
  EXPECT_EQ(once.lo, again.lo);
  EXPECT_EQ(once.hi, again.hi);
  EXPECT_LT(once.lo, 4.5);
  EXPECT_GT(once.hi, 4.5);
}

TEST(Statistics, JackknifeOfAMeanIsStudentsInterval) {
  const std::vector<double> values = {2, 4, 4, 6};
  const auto mean = [&](const SampledIndices& picks) {
    double sum = 0;
    for (const int i : picks[0]) sum += values[static_cast<size_t>(i)];
    return sum / static_cast<double>(picks[0].size());
  };
  const Interval interval = jackknife_interval({4}, mean, 0.95);
  // Mean 4, standard error sqrt((8 / 3) / 4); t's quantile with 3 degrees of freedom is 3.182446.
  const double half = 3.182446 * std::sqrt(8.0 / 3 / 4);
  EXPECT_NEAR(interval.lo, 4 - half, 1e-5);
  EXPECT_NEAR(interval.hi, 4 + half, 1e-5);
}

TEST(Statistics, LagOneCorrelation) {
  EXPECT_NEAR(lag1_correlation(std::vector<double>{1, 2, 3, 4, 5}), 1, 1e-12);
  EXPECT_NEAR(lag1_correlation(std::vector<double>{1, -1, 1, -1, 1}), -1, 1e-12);
  EXPECT_EQ(lag1_correlation(std::vector<double>{3, 3, 3, 3}), 0);
  EXPECT_EQ(lag1_correlation(std::vector<double>{1, 2}), 0);
}

TEST(Statistics, HalvingAddsPairsAndKeepsTheRatio) {
  const BlockSums sums{{{1, 2, 3, 4, 5}, {3, 2, 1, 0, 1}}, {2, 2, 2, 2, 2}};
  const BlockSums half = merge_pairs(sums);
  EXPECT_EQ(half.ours, (std::vector<std::vector<double>>{{3, 12}, {5, 2}}));
  EXPECT_EQ(half.theirs, (std::vector<double>{4, 6}));
  EXPECT_DOUBLE_EQ(half.ratio(), sums.ratio());
  EXPECT_DOUBLE_EQ(sums.ratio(), (15 + 7) / 2.0 / 10);
}

TEST(Statistics, CorrelatedNeighboursAreMerged) {
  // 2 2 2 2 .5 .5 .5 .5 ...: three of four neighbours are equal. After one merge every second is.
  BlockSums runs{{{}}, {}};
  for (int b = 0; b < 32; ++b) {
    runs.ours[0].push_back(b / 4 % 2 == 0 ? 2 : 0.5);
    runs.theirs.push_back(1);
  }
  EXPECT_EQ(merge_correlated(runs).blocks(), 16);

  BlockSums jumps{{{}}, {}};
  for (int b = 0; b < 32; ++b) {
    jumps.ours[0].push_back(b % 2 == 0 ? 2 : 0.5);
    jumps.theirs.push_back(1);
  }
  EXPECT_EQ(merge_correlated(jumps).blocks(), 32);
}

TEST(Statistics, EqualSumsHaveRatioExactlyOne) {
  BlockSums same{{{}}, {}};
  for (int b = 0; b < 12; ++b) {
    same.ours[0].push_back(b + 1);
    same.theirs.push_back(b + 1);
  }
  const Interval interval = ratio_interval(same);
  EXPECT_DOUBLE_EQ(interval.lo, 1);
  EXPECT_DOUBLE_EQ(interval.hi, 1);
}

TEST(Statistics, FewBlocksGiveStudentsIntervalAndOneBlockNone) {
  const BlockSums three{{{1, 2, 4}}, {2, 2, 2}};
  const Interval interval = ratio_interval(three);
  EXPECT_LT(interval.lo, three.ratio());
  EXPECT_GT(interval.hi, three.ratio());
  // The interval is symmetric in the logarithm.
  EXPECT_NEAR(std::log(interval.lo) + std::log(interval.hi), 2 * std::log(three.ratio()), 1e-9);
  EXPECT_TRUE(std::isnan(ratio_interval({{{1}}, {2}}).lo));
}

// About 95 % of the intervals contain the known true ratio.
TEST(Statistics, IntervalsHaveNominalCoverage) {
  int covered = 0;
  constexpr int kSamples = 200, kBlocks = 20;
  for (int sample = 0; sample < kSamples; ++sample) {
    Rng rng = Rng(99).split(static_cast<uint64_t>(sample));
    BlockSums sums{{{}}, {}};
    for (int b = 0; b < kBlocks; ++b) {
      const double base = std::exp(0.5 * rng.normal());
      sums.theirs.push_back(base);
      sums.ours[0].push_back(base * (0.8 + 0.2 * rng.normal()));
    }
    const Interval interval = ratio_interval(sums);
    covered += interval.lo <= 0.8 && 0.8 <= interval.hi;
  }
  // The standard error of the share is 1.5 %.
  EXPECT_GE(covered, kSamples * 91 / 100);
  EXPECT_LE(covered, kSamples * 99 / 100);
}

TEST(Statistics, SeedsWidenTheInterval) {
  BlockSums one{{{}}, {}}, several{{}, {}};
  for (int s = 0; s < 5; ++s) several.ours.emplace_back();
  for (int b = 0; b < 12; ++b) {
    one.ours[0].push_back(1 + 0.01 * (b % 3));
    one.theirs.push_back(1);
    for (int s = 0; s < 5; ++s) {
      several.ours[static_cast<size_t>(s)].push_back(0.8 + 0.1 * s + 0.01 * (b % 3));
    }
  }
  several.theirs = one.theirs;
  const Interval narrow = ratio_interval(one), wide = ratio_interval(several);
  EXPECT_GT(wide.hi - wide.lo, 5 * (narrow.hi - narrow.lo));
}

}  // namespace
}  // namespace yard
