// The parts of the estimate of remaining time: coarse powers, mean residual life, and online
// estimates from ended and running jobs.
#include "env/predict/user_history.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "env/base/core/rng.h"

namespace yard::testing {
namespace {

TEST(Log2Coarse, StaysWithinItsBound) {
  for (double x = 1e-12; x < 1e15; x *= 1.0007) {
    ASSERT_NEAR(log2_coarse(x), std::log2(x), 2e-5 + 1e-7 * std::abs(std::log2(x))) << x;
  }
  EXPECT_EQ(log2_coarse(1), 0);
  EXPECT_EQ(log2_coarse(1024), 10);
}

TEST(Exp2Coarse, StaysWithinItsBound) {
  for (double x = -900; x < 900; x += 0.0371) {
    ASSERT_NEAR(exp2_coarse(x) / std::exp2(x), 1, 2e-4) << x;
  }
  for (const double whole : {-20.0, -1.0, 0.0, 1.0, 20.0}) {
    EXPECT_NEAR(exp2_coarse(whole) / std::exp2(whole), 1, 2e-4);
  }
}

// Returns E[X - a | X > a] of a log-normal with median 1: the integral of the survival function
// beyond a, divided by its value at a. Trapezoidal rule over the logarithm.
double mean_residual_life(double sd, double a) {
  const auto survival = [&](double ln_x) { return 0.5 * std::erfc(ln_x / sd / std::sqrt(2.0)); };
  const double from = std::log(a), to = from + 14 * sd + 10, step = (to - from) / 200'000;
  double sum = 0;
  for (int i = 0; i <= 200'000; ++i) {
    const double y = from + step * i;
    sum += survival(y) * std::exp(y) * step * (i == 0 || i == 200'000 ? 0.5 : 1);
  }
  return sum / survival(from);
}

TEST(ResidualLife, IsTheIntegralOfTheSurvivalFunction) {
  for (const double sd : {0.7, 1.2, 2.0}) {
    const ResidualLife life(sd);
    for (const double u : {-6.0, -2.5, -1.0, 0.0, 0.5, 1.5, 3.0, 4.0}) {
      const double exact = std::log2(mean_residual_life(sd, std::exp2(u)));
      EXPECT_NEAR(life.log2_remaining_s(0, static_cast<float>(u)), exact, 0.02) << sd << " " << u;
      EXPECT_NEAR(life.log2_remaining_s(7, static_cast<float>(u + 7)), exact + 7, 0.02)
          << "scales with it";
    }
    // A job which has not run is expected to take its mean, exp(sd^2 / 2) medians.
    EXPECT_NEAR(life.log2_remaining_s(5, -30), 5 + sd * sd / 2 / std::log(2.0), 0.01);
  }
}

// The Gittins index, by search over a fine grid of numerically integrated survival.
TEST(ResidualLife, RanksByGittinsIndex) {
  for (const double sd : {0.5, 1.2, 2.0}) {
    const ResidualLife life(sd);
    const auto survival = [sd](double x) {
      return 0.5 * std::erfc(std::log(x) / sd / std::sqrt(2.0));
    };
    for (const double u : {-6.0, -1.0, 0.0, 1.5, 3.0}) {
      const double a = std::exp2(u);
      double best = 1e300, integral = 0, d = 0, before = survival(a);
      for (double next = 1e-4; next < 1e4; next *= 1.002) {
        const double now = survival(a + next);
        integral += (next - d) * (before + now) / 2;
        d = next;
        before = now;
        if (now < survival(a) * (1 - 1e-6)) {
          best = std::min(best, integral / (survival(a) - now));
        }
      }
      EXPECT_NEAR(life.log2_inverse_gittins_s(0, static_cast<float>(u)), std::log2(best), 0.02)
          << sd << " " << u;
      EXPECT_NEAR(life.log2_inverse_gittins_s(3, static_cast<float>(u + 3)), std::log2(best) + 3,
                  0.02);
      EXPECT_LE(life.log2_inverse_gittins_s(0, static_cast<float>(u)),
                life.log2_remaining_s(0, static_cast<float>(u)));
    }
  }
}

// Widths range from jobs of a known batch (narrow) to jobs without any history (wide).
TEST(RunTimeModel, AreWiderWithLessHistory) {
  const RunTimeModel model(0.7F, 0.9F, 0.6F);
  EXPECT_EQ(model.residual_life_bin(0, 0), 0);
  EXPECT_EQ(model.residual_life_bin(1, 1), RunTimeModel::kWidths - 1);
  EXPECT_GT(model.residual_life_bin(1, 0), model.residual_life_bin(0, 1))
      << "a batch is more informative than a user";
  const auto is = [](const ResidualLife& life, double sd) {
    const ResidualLife other(sd);
    EXPECT_NEAR(life.log2_remaining_s(0, 1), other.log2_remaining_s(0, 1), 1e-4);
    EXPECT_NEAR(life.log2_inverse_gittins_s(0, 1), other.log2_inverse_gittins_s(0, 1), 1e-4);
  };
  is(model.life[0], 0.7);
  is(model.life[RunTimeModel::kWidths - 1], std::sqrt(0.49 + 0.81 + 0.36));
  const RunTimeModel narrow(0.7F, 0, 0);
  is(narrow.life[narrow.residual_life_bin(1, 1)], 0.7);
}

TEST(ResidualLife, GrowsSteadily) {
  for (const double sd : {0.2, 1.2, 3.0}) {
    const ResidualLife life(sd);
    float before = life.log2_remaining_s(0, 1);
    for (float u = 1; u < 40; u += 0.05F) {
      const float now = life.log2_remaining_s(0, u);
      ASSERT_TRUE(std::isfinite(now)) << sd << " " << u;
      // Heavy tails: beyond the median, the expected time left grows with the time run.
      if (u > 2) {
        ASSERT_GE(now, before - 0.05F) << sd << " " << u;
      }
      before = now;
    }
  }
}

// Some jobs, with the fields which the history reads.
struct Jobs {
  struct Row {
    int32_t user;
    int64_t submit_us, attained_us;
    bool finished;
  };
  std::vector<Row> held_rows, changed_rows;
};

// A state that holds these jobs, and the view of it.
class JobsState {
 public:
  explicit JobsState(const Jobs& jobs) {
    for (const Jobs::Row& row : jobs.held_rows) held_.push_back(add(row));
    for (const Jobs::Row& row : jobs.changed_rows) changed_.push_back(add(row));
    head_.held = static_cast<int32_t>(held_.size());
    head_.num_changed = static_cast<int32_t>(changed_.size());
    state_.head = &head_;
    state_.phase = {records_.data(), &SlotRecord::phase};
    state_.started = {records_.data(), &SlotRecord::started};
    state_.submit_us = {records_.data(), &SlotRecord::submit_us};
    state_.since_us = {records_.data(), &SlotRecord::since_us};
    state_.attained_us = {records_.data(), &SlotRecord::attained_us};
    state_.user = users_.data();
    state_.holder_slots = held_.data();
    state_.changed = changed_.data();
  }
  View view() const { return {fixed_, state_, InformationLevel::kHistory}; }

 private:
  int32_t add(const Jobs::Row& row) {
    SlotRecord record{};
    record.phase = row.finished ? Phase::kDone : Phase::kRunning;
    record.started = 1;
    record.submit_us = row.submit_us;
    record.attained_us = row.attained_us;
    records_.push_back(record);
    users_.push_back(row.user);
    return static_cast<int32_t>(users_.size()) - 1;
  }

  SimModel fixed_;
  StateHeader head_{};
  std::vector<SlotRecord> records_;
  std::vector<int32_t> users_, held_, changed_;
  SimState state_;
};

class History : public ::testing::Test {
 protected:
  static constexpr float kShrink = 1, kSiblings = 0.5F, kSd = 1.2F;
  static constexpr int64_t kSecond = 1'000'000, kFar = 100'000 * kSecond;

  void update(const Jobs& jobs) {
    const JobsState state(jobs);
    const View view = state.view();
    history_.learn_finished(view);
    ++point_;
    for (int32_t user = UserHistory::kNoUser; user < 3; ++user) {
      history_.prepare(user, point_, kShrink);
    }
    int32_t scratch[512];
    history_.add_unfinished(view, life_, point_, scratch, [&](auto&& visit) {
      for (const int32_t slot : view.holder_slots()) visit(slot);
    });
  }
  float median(int32_t user, int64_t submit_us) {
    return history_.predict(user, submit_us, kSiblings).log2_median;
  }
  void update() { update(Jobs{}); }

  std::vector<uint64_t> memory_ = std::vector<uint64_t>(UserHistory::bytes(3) / 8, 0);
  UserHistory history_{reinterpret_cast<std::byte*>(memory_.data())};
  ResidualLife life_{kSd};
  int32_t point_ = 0;
};

TEST_F(History, KeepsTheMeanOfFinishedJobs) {
  double sum = 0;
  Rng rng(1);
  for (int i = 0; i < 20; ++i) {
    const auto x = static_cast<float>(4 + 8 * rng.uniform());
    sum += x;
    history_.observe(1, i * kFar, x);
  }
  EXPECT_EQ(history_.record(1).jobs, 20);
  EXPECT_NEAR(history_.record(1).mean_log2, sum / 20, 1e-4);
  EXPECT_EQ(history_.record(0).jobs, 0) << "of no other user";
  EXPECT_EQ(history_.record(2).jobs, 0);
  // A user without history gets the median of all users; other users are shrunk towards it.
  const float all = history_.log2_median(2, kShrink);
  EXPECT_NEAR(all, (sum + 4 * 11.8) / 24, 1e-3);
  EXPECT_NEAR(history_.log2_median(1, kShrink), (sum + all) / 21, 1e-3);
  EXPECT_EQ(history_.log2_median(UserHistory::kNoUser, kShrink), all);
}

TEST_F(History, ForgetsOldJobsSlowly) {
  for (int i = 0; i < 200; ++i) history_.observe(0, i * kFar, 14);
  for (int i = 0; i < 100; ++i) history_.observe(0, (200 + i) * kFar, 6);
  EXPECT_LE(history_.record(0).jobs, 32);
  EXPECT_NEAR(history_.record(0).mean_log2, 6, 1);
}

TEST_F(History, FinishedSiblingsShiftTheMedian) {
  for (int i = 0; i < 30; ++i) history_.observe(1, i * kFar, 13);
  const int64_t now_us = 1000 * kFar;
  update();
  EXPECT_NEAR(median(1, now_us), 13, 0.2);
  for (int i = 0; i < 3; ++i) history_.observe(1, now_us + i * kSecond, 5);
  update();
  EXPECT_LT(median(1, now_us + 10 * kSecond), 6.5);
  EXPECT_GT(median(1, now_us + kFar), 11) << "submitted on another day";
  EXPECT_FLOAT_EQ(median(2, now_us), history_.log2_median(2, kShrink)) << "another user's";
}

TEST_F(History, RunningSiblingsRaiseTheMedian) {
  for (int i = 0; i < 30; ++i) history_.observe(1, i * kFar, 8);
  const int64_t now_us = 1000 * kFar;
  update();
  const float before = median(1, now_us);
  Jobs jobs;
  jobs.held_rows = {{1, now_us, 0, false}};
  update(jobs);
  EXPECT_NEAR(median(1, now_us), before, 0.2) << "a job that has just started adds little";
  float last = median(1, now_us);
  for (const int64_t ran_s : {200, 1000, 5000, 30'000}) {
    jobs.held_rows = {{1, now_us, ran_s * kSecond, false}};
    update(jobs);
    EXPECT_GT(median(1, now_us), last) << ran_s;
    last = median(1, now_us);
  }
  EXPECT_GT(last, 12);
  EXPECT_NEAR(median(1, now_us + kFar), before, 1e-4) << "of another batch";
}

TEST_F(History, TheOrderOfManySiblingsDoesNotMatter) {
  Jobs forward;
  Rng rng(4);
  for (int i = 0; i < 500; ++i) {
    forward.held_rows.push_back({1, i * kSecond, (1 + rng.below(90'000)) * kSecond, false});
  }
  Jobs backward = forward;
  std::reverse(backward.held_rows.begin(), backward.held_rows.end());
  update(forward);
  const float once = median(1, 0);
  update(backward);
  EXPECT_EQ(median(1, 0), once);
}

// A job which holds GPUs but does not run yet is no observation, nor is its batch the running one.
TEST_F(History, StartingJobsAreIgnored) {
  Jobs jobs;
  jobs.held_rows = {{1, 0, 4000 * kSecond, false}};
  update(jobs);
  const float with_old = median(1, 0);
  jobs.held_rows.push_back({1, kFar, 0, false});
  update(jobs);
  EXPECT_EQ(median(1, 0), with_old);
}

// Of several running batches, the one submitted last represents the user.
TEST_F(History, OnlyTheNewestRunningBatchCounts) {
  Jobs jobs;
  jobs.held_rows = {{1, 0, 90'000 * kSecond, false}, {1, kFar, 500 * kSecond, false}};
  update(jobs);
  const float both = median(1, kFar);
  EXPECT_NEAR(median(1, 0), history_.log2_median(1, kShrink), 1e-4) << "the older one";
  jobs.held_rows.erase(jobs.held_rows.begin());
  update(jobs);
  EXPECT_EQ(median(1, kFar), both);
}

TEST_F(History, UpdatesRunningJobsEveryTime) {
  for (int i = 0; i < 30; ++i) history_.observe(1, i * kFar, 8);
  const int64_t now_us = 1000 * kFar;
  Jobs jobs;
  jobs.held_rows = {{1, now_us, 4000 * kSecond, false}, {2, now_us, 70 * kSecond, false}};
  update(jobs);
  const float once = median(1, now_us);
  for (int i = 0; i < 5; ++i) update(jobs);
  EXPECT_EQ(median(1, now_us), once);
}

TEST_F(History, FinishedJobsNoLongerCountAsRunning) {
  for (int i = 0; i < 30; ++i) history_.observe(1, i * kFar, 8);
  const int64_t now_us = 1000 * kFar;
  Jobs jobs;
  jobs.held_rows = {{1, now_us, 4000 * kSecond, false}};
  update(jobs);
  EXPECT_GT(history_.record(1).alive_weight, 2048) << "half an observation";
  jobs.held_rows.clear();
  jobs.changed_rows = {{1, now_us, 4096 * kSecond, true}};
  update(jobs);
  EXPECT_EQ(history_.record(1).batch_jobs, 1);
  EXPECT_EQ(history_.record(1).alive_weight, 0);
}

}  // namespace
}  // namespace yard::testing
