// What hazards by bin let expect, against closed forms: a memoryless time, one that is certain, and
// quantiles against the share of draws.
#include "env/predict/hazard.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "env/base/rng.h"

namespace yard::testing {
namespace {

constexpr int32_t kBins = TimeBins::kBins;

int64_t us(float seconds) { return std::llround(1e6 * seconds); }

// Hazards of a distribution with this survival function.
template <class Survives>
std::vector<float> hazards_of(const BinEdges& edges, Survives survives) {
  std::vector<float> out(kBins);
  for (size_t b = 0; b < kBins; ++b) {
    const double before = survives(edges.begin_s[b]), after = survives(edges.begin_s[b + 1]);
    out[b] = before > 1e-300 ? static_cast<float>(1 - after / before) : 1.0F;
  }
  return out;
}

TEST(TimeBins, FollowEachOtherByHalfOctaves) {
  const BinEdges edges;
  EXPECT_EQ(edges.begin_s[0], 0);
  EXPECT_NEAR(edges.begin_s[1], 8, 0.01);
  EXPECT_NEAR(edges.begin_s[kBins], 137 * 86400, 0.01 * 137 * 86400);
  for (int32_t b = 1; b < kBins; ++b) {
    EXPECT_NEAR(edges.begin_s[b + 1] / edges.begin_s[b], std::sqrt(2.0), 0.01) << b;
    EXPECT_EQ(TimeBins::of_us(std::llround(edges.begin_s[b] * 1.01e6)), b);
    EXPECT_EQ(TimeBins::of_us(std::llround(edges.begin_s[b + 1] * 0.99e6)), b);
  }
  EXPECT_EQ(TimeBins::of_us(0), 0);
  EXPECT_EQ(TimeBins::of_us(INT64_MAX / 2), kBins - 1);
}

TEST(LookAhead, AMemorylessTimeStaysAsLong) {
  const BinEdges edges;
  const double mean_s = 3000;
  const auto hazards = hazards_of(edges, [&](double t) { return std::exp(-t / mean_s); });
  for (const float attained_s : {0.0F, 10.0F, 900.0F, 5000.0F}) {
    const Outlook ahead = look_ahead(edges, us(attained_s), hazards.data());
    EXPECT_NEAR(ahead.mean_s, mean_s, 0.05 * mean_s) << attained_s;
    EXPECT_NEAR(ahead.gittins_s, mean_s, 0.05 * mean_s) << attained_s;
  }
}

TEST(LookAhead, AHeavyTailMakesTheYoungFirst) {
  // Pareto: S(t) = (1 + t / 100)^-1.5; its mean left is (100 + t) / 0.5.
  const BinEdges edges;
  const auto hazards = hazards_of(edges, [](double t) { return std::pow(1 + t / 100, -1.5); });
  double before = 0;
  for (const float attained_s : {0.0F, 100.0F, 1000.0F, 10000.0F}) {
    const Outlook ahead = look_ahead(edges, us(attained_s), hazards.data());
    EXPECT_NEAR(ahead.mean_s, (100 + attained_s) / 0.5, 0.12 * (100 + attained_s) / 0.5);
    // 1 / hazard rate, since that falls: the sooner an attempt is given up, the better.
    EXPECT_NEAR(ahead.gittins_s, (100 + attained_s) / 1.5, 0.25 * (100 + attained_s) / 1.5);
    EXPECT_GT(ahead.gittins_s, before);
    before = ahead.gittins_s;
  }
}

// A time is in one bin, whoever asks: hazards before it are not known.
TEST(LookAhead, NeverLooksBackFromAnEdge) {
  const BinEdges edges;
  for (int32_t b = 1; b < kBins; ++b) {
    const int64_t edge_us = std::llround(1e6 * edges.begin_s[b]);
    const int64_t apart_us = edge_us / 10'000'000 + 1;
    for (int64_t at_us = edge_us - 40 * apart_us; at_us < edge_us + 40 * apart_us;
         at_us += apart_us) {
      const int32_t from = TimeBins::of_us(at_us);
      look_ahead(
          edges, at_us,
          [&](int32_t bin) {
            EXPECT_GE(bin, from) << at_us;
            return 0.5F;
          },
          [](int32_t, float, float) { return true; });
    }
  }
}

TEST(LookAhead, WhoOutlivesAllBinsIsExpectedForLong) {
  const BinEdges edges;
  const std::vector<float> never(kBins, 0.0F);
  const Outlook ahead = look_ahead(edges, 0, never.data());
  EXPECT_GT(ahead.mean_s, edges.begin_s[kBins]);
  EXPECT_TRUE(std::isfinite(ahead.mean_s));
  EXPECT_TRUE(std::isfinite(look_ahead(edges, us(1e9F), never.data()).mean_s));
}

TEST(QuantilesLeft, AreThoseOfDraws) {
  const BinEdges edges;
  const double sd = 1.5, median_s = 2000;
  const auto survives = [&](double t) {
    return t <= 0 ? 1 : 0.5 * std::erfc(std::log(t / median_s) / sd / std::sqrt(2.0));
  };
  const auto hazards = hazards_of(edges, survives);
  const float q[] = {0.05F, 0.25F, 0.5F, 0.75F, 0.95F};
  for (const float attained_s : {0.0F, 300.0F, 4000.0F}) {
    Rng rng = Rng(7).split(static_cast<uint64_t>(attained_s));
    std::vector<double> left;
    while (left.size() < 20000) {
      const double total_s = median_s * std::exp(sd * rng.normal());
      if (total_s > attained_s) left.push_back(total_s - attained_s);
    }
    std::sort(left.begin(), left.end());
    float told_s[5];
    quantiles_left(edges, us(attained_s), hazards.data(), q, 5, told_s);
    for (int i = 0; i < 5; ++i) {
      const auto below = std::lower_bound(left.begin(), left.end(), told_s[i]) - left.begin();
      EXPECT_NEAR(static_cast<double>(below) / 20000, q[i], 0.02) << attained_s << " " << q[i];
    }
  }
}

}  // namespace
}  // namespace yard::testing
