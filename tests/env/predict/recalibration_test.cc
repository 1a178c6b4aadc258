// Predicted probabilities with a known bias are corrected.
#include "env/predict/recalibration.h"

#include <gtest/gtest.h>

#include <cmath>

#include "env/base/core/rng.h"

namespace yard {
namespace {

TEST(Recalibration, IsTheIdentityWithoutData) {
  const Recalibration fresh;
  for (const double level : {0.0, 0.05, 0.5, 0.95, 1.0})
    EXPECT_NEAR(fresh.read(level), level, 1e-6);
}

TEST(Recalibration, LearnsHowOftenEndsFallBelowAPredictedShare) {
  Recalibration learned;
  Rng rng(7);
  // Ends occur at u^2 where u was predicted: half of them below a quarter.
  for (int i = 0; i < 20'000; ++i) {
    const double share = std::pow(rng.uniform(), 2);
    learned.count_ended_job();
    learned.learn(share, share);
  }
  // The result is two parts observations and one part prior.
  for (const double level : {0.1, 0.25, 0.5, 0.75, 0.9}) {
    const double share = learned.read(level);
    EXPECT_NEAR((2 * std::sqrt(share) + share) / 3, level, 0.02) << level;
  }
}

TEST(Recalibration, SpreadsRoughlyKnownEndsEvenly) {
  Recalibration rough, even;
  for (int i = 0; i < 20'000; ++i) rough.learn(0.5, 1.0);
  EXPECT_NEAR(rough.read(1.0 / 12), 0.25, 0.01);  // from the prior alone
  EXPECT_NEAR(rough.read(1.0 / 6 + 5.0 / 12), 0.75, 0.01);
  for (int i = 0; i < 5000; ++i) even.learn(0, 1);
  EXPECT_NEAR(even.read(0.3), 0.3, 1e-3);
}

TEST(Recalibration, IntervalsAreWiderWithFewerEndedJobs) {
  Recalibration few, many;
  for (int i = 0; i < 10; ++i) few.count_ended_job();
  for (int i = 0; i < 5000; ++i) many.count_ended_job();
  const auto a = few.interval(0.8), b = many.interval(0.8);
  EXPECT_LT(a.low, b.low);
  EXPECT_GT(a.high, b.high);
  EXPECT_GE(a.low, 0);
  EXPECT_LE(a.high, 1);
  EXPECT_NEAR(b.high - b.low, 0.8, 0.03);
}

}  // namespace
}  // namespace yard
