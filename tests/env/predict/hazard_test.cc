// Predictions from hazards by bin against closed forms: memoryless, heavy-tailed, cut off by a
// limit, certain. Probabilities of an end are compared with those of random draws.
#include "env/predict/hazard.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "env/base/core/rng.h"

namespace yard::testing {
namespace {

constexpr int32_t kBins = TimeBins::kBins;

int64_t us(float seconds) { return std::llround(1e6 * seconds); }

// Returns the hazards of a distribution with this survival function.
template <class Survives>
std::vector<float> hazards_of(const BinEdges& edges, Survives survives) {
  std::vector<float> out(kBins);
  for (size_t b = 0; b < kBins; ++b) {
    const double before = survives(edges.begin_s[b]), after = survives(edges.begin_s[b + 1]);
    out[b] = before > 1e-300 ? static_cast<float>(1 - after / before) : 1.0F;
  }
  return out;
}

const EndPositionsInBins kEven = EndPositionsInBins::uniform();

TEST(TimeBins, AreQuarterOctaves) {
  const BinEdges edges;
  EXPECT_EQ(edges.begin_s[0], 0);
  EXPECT_NEAR(edges.begin_s[1], 8, 0.01);
  EXPECT_NEAR(edges.begin_s[kBins], 163 * 86400, 0.01 * 163 * 86400);
  for (int32_t b = 1; b < kBins; ++b) {
    EXPECT_NEAR(edges.begin_s[b + 1] / edges.begin_s[b], std::pow(2, 0.25), 0.01) << b;
    EXPECT_EQ(TimeBins::bin_of_us(std::llround(edges.begin_s[b] * 1.01e6)), b);
    EXPECT_EQ(TimeBins::bin_of_us(std::llround(edges.begin_s[b + 1] * 0.99e6)), b);
  }
  EXPECT_EQ(TimeBins::bin_of_us(0), 0);
  EXPECT_EQ(TimeBins::bin_of_us(INT64_MAX / 2), kBins - 1);
}

TEST(LookAhead, MemorylessTimesKeepTheirMean) {
  const BinEdges edges;
  const double mean_s = 3000;
  const auto hazards = hazards_of(edges, [&](double t) { return std::exp(-t / mean_s); });
  for (const float attained_s : {0.0F, 10.0F, 900.0F, 5000.0F}) {
    const RemainingTime ahead =
        predict_remaining(edges, us(attained_s), kUnlimitedUs, hazards.data(), kEven);
    EXPECT_NEAR(ahead.mean_s, mean_s, 0.05 * mean_s) << attained_s;
    EXPECT_NEAR(ahead.gittins_s, mean_s, 0.05 * mean_s) << attained_s;
  }
}

TEST(LookAhead, HeavyTailsFavourYoungJobs) {
  // Pareto: S(t) = (1 + t / 100)^-1.5; the mean time left is (100 + t) / 0.5.
  const BinEdges edges;
  const auto hazards = hazards_of(edges, [](double t) { return std::pow(1 + t / 100, -1.5); });
  double before = 0;
  for (const float attained_s : {0.0F, 100.0F, 1000.0F, 10000.0F}) {
    const RemainingTime ahead =
        predict_remaining(edges, us(attained_s), kUnlimitedUs, hazards.data(), kEven);
    EXPECT_NEAR(ahead.mean_s, (100 + attained_s) / 0.5, 0.12 * (100 + attained_s) / 0.5);
    // The hazard rate falls, so the index is 1 / rate: stopping an attempt early is best.
    EXPECT_NEAR(ahead.gittins_s, (100 + attained_s) / 1.5, 0.25 * (100 + attained_s) / 1.5);
    EXPECT_GT(ahead.gittins_s, before);
    before = ahead.gittins_s;
  }
}

// A time belongs to exactly one bin: hazards of earlier bins (NaN here) are never read.
TEST(LookAhead, NeverUsesEarlierBins) {
  const BinEdges edges;
  for (int32_t b = 1; b < kBins; ++b) {
    const int64_t edge_us = std::llround(1e6 * edges.begin_s[b]);
    const int64_t apart_us = edge_us / 10'000'000 + 1;
    for (int64_t at_us = edge_us - 40 * apart_us; at_us < edge_us + 40 * apart_us;
         at_us += apart_us) {
      std::vector<float> hazards(kBins, std::numeric_limits<float>::quiet_NaN());
      std::fill(hazards.begin() + TimeBins::bin_of_us(at_us), hazards.end(), 0.5F);
      const RemainingTime ahead =
          predict_remaining(edges, at_us, kUnlimitedUs, hazards.data(), kEven);
      EXPECT_TRUE(std::isfinite(ahead.mean_s)) << at_us;
      EXPECT_LT(ahead.gittins_s, 1e9F) << at_us;
    }
  }
}

TEST(LookAhead, JobsBeyondAllBinsHaveALongExpectation) {
  const BinEdges edges;
  const std::vector<float> never(kBins, 0.0F);
  const RemainingTime ahead = predict_remaining(edges, 0, kUnlimitedUs, never.data(), kEven);
  EXPECT_GT(ahead.mean_s, edges.begin_s[kBins]);
  EXPECT_TRUE(std::isfinite(ahead.mean_s));
  EXPECT_TRUE(
      std::isfinite(predict_remaining(edges, us(1e9F), kUnlimitedUs, never.data(), kEven).mean_s));
}

TEST(LookAhead, LimitTruncatesTheRemainingTime) {
  // A memoryless time cut off after l has the mean m (1 - exp(-l / m)).
  const BinEdges edges;
  const double mean_s = 3000;
  const auto hazards = hazards_of(edges, [&](double t) { return std::exp(-t / mean_s); });
  for (const float attained_s : {0.0F, 50.0F, 2000.0F}) {
    for (const float left_s : {100.0F, 2500.0F, 20000.0F}) {
      const int64_t until_us = us(attained_s + left_s);
      const RemainingTime ahead =
          predict_remaining(edges, us(attained_s), until_us, hazards.data(), kEven);
      const double ended = 1 - std::exp(-left_s / mean_s);
      EXPECT_NEAR(ahead.mean_s, mean_s * ended, 0.03 * mean_s * ended) << left_s;
      EXPECT_NEAR(ahead.ended, ended, 0.02) << left_s;
      EXPECT_EQ(
          probability_ended_within(edges, us(attained_s), until_us, hazards.data(), kEven, left_s),
          1);
    }
  }
  const std::vector<float> never(kBins, 0.0F);
  EXPECT_NEAR(predict_remaining(edges, us(100), us(700), never.data(), kEven).gittins_s, 600, 1);
}

TEST(LookAhead, ResolvesEndsWithinABin) {
  // All jobs end in the sixth cell of one bin: none before it, all after it.
  const BinEdges edges;
  const int32_t bin = 40;
  std::vector<float> hazards(kBins, 0.0F);
  hazards[bin] = 1;
  EndPositionsInBins spike = kEven;
  for (int32_t i = 0; i < EndPositionsInBins::kCells; ++i)
    spike.share[bin][i] = i == 5 ? 1.0F : 0.0F;
  const double begin_s = edges.begin_s[bin], whole_s = edges.begin_s[bin + 1] - begin_s;
  for (const double attained_s : {0.0, 0.5 * begin_s, begin_s + 0.3 * whole_s}) {
    const int64_t at_us = us(static_cast<float>(attained_s));
    const auto share = [&](double part) {
      return probability_ended_within(edges, at_us, kUnlimitedUs, hazards.data(), spike,
                                      begin_s + part * whole_s - attained_s);
    };
    EXPECT_NEAR(share(0.6), 0, 1e-3);
    EXPECT_NEAR(share(5.5 / EndPositionsInBins::kCells), 0.5, 0.01);
    EXPECT_NEAR(share(0.8), 1, 1e-3);
  }
}

TEST(ShareEnded, MatchesSampledShares) {
  const BinEdges edges;
  const double sd = 1.5, median_s = 2000;
  const auto survives = [&](double t) {
    return t <= 0 ? 1 : 0.5 * std::erfc(std::log(t / median_s) / sd / std::sqrt(2.0));
  };
  const auto hazards = hazards_of(edges, survives);
  for (const float attained_s : {0.0F, 300.0F, 4000.0F}) {
    Rng rng = Rng(7).split(static_cast<uint64_t>(attained_s));
    std::vector<double> left;
    while (left.size() < 20000) {
      const double total_s = median_s * std::exp(sd * rng.normal());
      if (total_s > attained_s) left.push_back(total_s - attained_s);
    }
    std::sort(left.begin(), left.end());
    for (const double q : {0.05, 0.25, 0.5, 0.75, 0.95}) {
      const double left_s = left[static_cast<size_t>(q * 20000)];
      const float predicted = probability_ended_within(edges, us(attained_s), kUnlimitedUs,
                                                       hazards.data(), kEven, left_s);
      EXPECT_NEAR(predicted, q, 0.02) << attained_s << " " << q;
    }
  }
}

}  // namespace
}  // namespace yard::testing
