// The breaker's states by hand, at given times.
#include "serving/engine/breaker.h"

#include <gtest/gtest.h>

namespace yard {
namespace {

using State = Breaker::State;

class BreakerTest : public ::testing::Test {
 protected:
  static Breaker::Time at(double seconds) {
    return Breaker::Time() + std::chrono::milliseconds(static_cast<int64_t>(1000 * seconds));
  }
  // A decision at the time, if the breaker admits it.
  bool decide(bool failed, double seconds) {
    if (!breaker_.admits(at(seconds))) return false;
    breaker_.add(failed, at(seconds));
    return true;
  }

  Breaker breaker_{{.failed_share = 0.2,
                    .at_least = 10,
                    .window = 20,
                    .window_s = 60,
                    .open_s = 30,
                    .max_open_s = 50,
                    .trial_every = 4,
                    .trial_s = 5,
                    .trials = 3}};
};

TEST_F(BreakerTest, OpensWhenMoreThanTheShareFailed) {
  for (int i = 0; i < 9; ++i) decide(true, i);
  EXPECT_EQ(breaker_.state(at(9)), State::kClosed) << "too few decisions to tell";
  decide(true, 9);
  EXPECT_EQ(breaker_.state(at(9)), State::kOpen);
  EXPECT_EQ(breaker_.detail(at(19)),
            "the policy failed 10 of 10 decisions; it is tried again in 20 s");
  EXPECT_FALSE(decide(false, 38.9));
  EXPECT_EQ(breaker_.times_opened(), 1u);
}

TEST_F(BreakerTest, ToleratesTheShareItself) {
  for (int i = 0; i < 40; ++i) decide(i % 5 == 4, i);
  EXPECT_EQ(breaker_.state(at(40)), State::kClosed);
}

TEST_F(BreakerTest, OldFailuresDoNotCount) {
  for (int i = 0; i < 9; ++i) decide(true, i);
  for (int i = 0; i < 10; ++i) decide(i < 2, 70 + i);
  EXPECT_EQ(breaker_.state(at(80)), State::kClosed);
}

TEST_F(BreakerTest, ClosesAfterTrialsAndOpensForLongerAfterAFailedOne) {
  for (int i = 0; i < 10; ++i) decide(true, 0);
  EXPECT_EQ(breaker_.state(at(30)), State::kHalfOpen);
  EXPECT_TRUE(decide(true, 30)) << "the first after its time is a trial";
  EXPECT_EQ(breaker_.state(at(79)), State::kOpen) << "50 s, not 60: the maximum";
  EXPECT_TRUE(decide(false, 80));
  int tried = 0;
  for (int i = 0; i < 8; ++i) tried += decide(false, 80.1) ? 1 : 0;
  EXPECT_EQ(tried, 2) << "each fourth";
  EXPECT_EQ(breaker_.state(at(81)), State::kClosed);
  EXPECT_TRUE(decide(false, 81));
}

TEST_F(BreakerTest, FewDecisionsAreTrialsByTime) {
  for (int i = 0; i < 10; ++i) decide(true, 0);
  EXPECT_TRUE(decide(false, 40));
  EXPECT_FALSE(decide(false, 44));
  EXPECT_TRUE(decide(false, 45));
}

TEST_F(BreakerTest, ResultsOfDecisionsBegunBeforeItOpenedAreIgnored) {
  for (int i = 0; i < 10; ++i) decide(true, 0);
  breaker_.add(true, at(10));
  EXPECT_EQ(breaker_.state(at(30)), State::kHalfOpen) << "still 30 s, and not 30 from then on";
}

TEST_F(BreakerTest, CanBeResetAndSwitchedOff) {
  for (int i = 0; i < 10; ++i) decide(true, 0);
  breaker_.reset();
  EXPECT_EQ(breaker_.state(at(0)), State::kClosed);
  Breaker off({.failed_share = 1});
  for (int i = 0; i < 200; ++i) off.add(true, at(0));
  EXPECT_EQ(off.state(at(0)), State::kClosed);
}

}  // namespace
}  // namespace yard
