// The embedded workload: equal for equal seeds, and shaped as its parameters state.
#include "env/trace/generators/habits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "env/base/core/error.h"
#include "env/trace/formats/load_trace.h"

namespace yard {
namespace {

using ::testing::HasSubstr;

constexpr double kMicroseconds = 1e6;

double log_run(const Job& job) { return std::log(static_cast<double>(job.run_us) / kMicroseconds); }

double deviation(const std::vector<double>& values) {
  double sum = 0, squares = 0;
  for (const double v : values) sum += v;
  for (const double v : values) squares += (v - sum / values.size()) * (v - sum / values.size());
  return std::sqrt(squares / values.size());
}

// Returns the jobs of a few seeds.
std::vector<std::vector<Job>> some_seeds(const UserHabitJobsParams& params = {}) {
  std::vector<std::vector<Job>> all;
  for (uint64_t seed = 1; seed <= 4; ++seed)
    all.push_back(generate_user_habit_jobs(params, {.seed = seed}));
  return all;
}

// Every score carries this hash. A change makes earlier scores incomparable: make it deliberately.
TEST(Habits, HashNamesTheCommittedParameters) {
  EXPECT_EQ(hash_of_parameters(UserHabitJobsParams{}),
            "92747756f27449fcf194a52d0d50fbda2c34b1e52e3b1b862df7b44fc20d8934");
  UserHabitJobsParams other;
  other.log_sd_job += 1e-9;
  EXPECT_NE(hash_of_parameters(other), hash_of_parameters(UserHabitJobsParams{}));
}

TEST(Habits, SameSeedSameJobs) {
  const Trace a = load_trace("synthetic:habits", {.seed = 7});
  const Trace b = load_trace("synthetic:habits", {.seed = 7});
  const Trace c = load_trace("synthetic:habits", {.seed = 8});
  ASSERT_EQ(a.jobs.size(), b.jobs.size());
  size_t equal_to_c = 0;
  for (size_t j = 0; j < a.jobs.size(); ++j) {
    ASSERT_EQ(a.jobs[j].id, b.jobs[j].id);
    ASSERT_EQ(a.jobs[j].submit_us, b.jobs[j].submit_us);
    ASSERT_EQ(a.jobs[j].run_us, b.jobs[j].run_us);
    ASSERT_EQ(a.jobs[j].gpus, b.jobs[j].gpus);
    ASSERT_EQ(a.jobs[j].user, b.jobs[j].user);
    equal_to_c += a.jobs[j].run_us == c.jobs[j].run_us;
  }
  EXPECT_LT(equal_to_c, a.jobs.size() / 10);
  EXPECT_EQ(a.sha256, b.sha256);
  EXPECT_NE(a.sha256, c.sha256);
}

TEST(Habits, JobsAreValidAndInOrder) {
  const UserHabitJobsParams p;
  for (const std::vector<Job>& jobs : some_seeds()) {
    ASSERT_EQ(jobs.size(), static_cast<size_t>(p.jobs));
    std::set<std::string> ids;
    for (size_t j = 0; j < jobs.size(); ++j) {
      ASSERT_GE(jobs[j].submit_us, j == 0 ? 0 : jobs[j - 1].submit_us);
      ASSERT_EQ(jobs[j].submit_us % 1'000'000, 0);
      const auto drawn = static_cast<double>(jobs[j].run_us);
      ASSERT_EQ(drawn, std::clamp<double>(drawn, p.shortest_s * kMicroseconds,
                                          p.longest_s * kMicroseconds));
      ASSERT_TRUE(ids.insert(jobs[j].id).second);
    }
  }
}

TEST(Habits, RunTimesVaryLessWithinUsersAndBatches) {
  std::vector<double> all, within;
  double hours = 0;
  for (const std::vector<Job>& jobs : some_seeds()) {
    std::map<std::string, std::vector<double>> by_user;
    for (const Job& job : jobs) by_user[job.user].push_back(log_run(job));
    for (const auto& [user, logs] : by_user) {
      double mean = 0;
      for (const double v : logs) mean += v / logs.size();
      for (const double v : logs) within.push_back(v - mean);
    }
    for (const Job& job : jobs) {
      all.push_back(log_run(job));
      hours += static_cast<double>(job.run_us) / kMicroseconds / 3600;
    }
  }
  // 4 seeds of 40 users: sampling moves these by a few hundredths, the clipping by 0.03.
  EXPECT_NEAR(deviation(all), 1.6, 0.1);
  EXPECT_NEAR(deviation(within), 1.1, 0.1);
  EXPECT_NEAR(hours / all.size(), 2.3, 0.6);
}

// Consecutive jobs of a user, of one size and within five minutes: mostly siblings.
TEST(Habits, SiblingsResembleEachOther) {
  std::vector<double> difference, apart;
  for (const std::vector<Job>& jobs : some_seeds()) {
    std::map<std::string, const Job*> last;
    for (const Job& job : jobs) {
      const Job*& before = last[job.user + "/" + std::to_string(job.gpus)];
      if (before != nullptr) {
        const bool close = job.submit_us - before->submit_us <= 300 * kMicroseconds;
        (close ? difference : apart).push_back(log_run(job) - log_run(*before));
      }
      before = &job;
    }
  }
  ASSERT_GT(difference.size(), 4000u);
  ASSERT_GT(apart.size(), 2000u);
  // The deviation of a difference is sqrt(2) times that of a job: within a batch (0.66), within all
  // jobs of a user (1.1).
  EXPECT_NEAR(deviation(difference), 0.93, 0.12);
  EXPECT_NEAR(deviation(apart), 1.55, 0.15);
}

TEST(Habits, LoadMatchesTheSetting) {
  for (const double load : {0.5, 0.9, 1.2}) {
    for (const int gpus : {32, 128}) {
      UserHabitJobsParams p;
      p.load = load;
      const std::vector<Job> jobs = generate_user_habit_jobs(p, {.seed = 3, .cluster_gpus = gpus});
      double work = 0;
      for (const Job& job : jobs) work += static_cast<double>(job.run_us) * job.gpus;
      const double span_us = static_cast<double>(jobs.back().submit_us);
      // The last batch starts a little before the end of the span, its siblings a little after.
      EXPECT_NEAR(work / (gpus * span_us), load, 0.02 * load);
    }
  }
}

TEST(Habits, ArrivalsFollowHourAndWeekday) {
  UserHabitJobsParams p;
  p.jobs = 40000;
  p.batch_jobs = 1;
  const std::vector<Job> jobs = generate_user_habit_jobs(p, {.seed = 5});
  const int64_t whole_weeks = jobs.back().submit_us / 1'000'000 / (7 * 86400);
  ASSERT_GE(whole_weeks, 10);
  std::vector<double> hours(24), weekdays(7);
  double count = 0;
  for (const Job& job : jobs) {
    const int64_t hour = job.submit_us / 1'000'000 / 3600;
    if (hour / 168 >= whole_weeks) continue;
    ++hours[hour % 24];
    ++weekdays[hour / 24 % 7];
    ++count;
  }
  double hour_sum = 0, day_sum = 0;
  for (const double w : p.hours) hour_sum += w;
  for (const double w : p.weekdays) day_sum += w;
  // Four standard errors of a count.
  for (size_t h = 0; h < 24; ++h) {
    const double expected = count * p.hours[h] / hour_sum;
    EXPECT_NEAR(hours[h], expected, 4 * std::sqrt(expected)) << h;
  }
  for (size_t d = 0; d < 7; ++d) {
    const double expected = count * p.weekdays[d] / day_sum;
    EXPECT_NEAR(weekdays[d], expected, 4 * std::sqrt(expected)) << d;
  }
}

TEST(Habits, SizesFollowTheirSharesAndFitTheCluster) {
  UserHabitJobsParams p;
  p.own_size_share = 0;  // a few users' favourite sizes would bias the shares
  p.batch_jobs = 1;
  p.jobs = 20000;
  std::map<int, double> share;
  for (const Job& job : generate_user_habit_jobs(p, {.seed = 2})) share[job.gpus] += 1.0 / p.jobs;
  // Four standard errors of a share are at most 0.014.
  EXPECT_NEAR(share[1], p.share_1, 0.014);
  EXPECT_NEAR(share[2], p.share_2, 0.014);
  EXPECT_NEAR(share[4], p.share_4, 0.014);
  EXPECT_NEAR(share[8], p.share_8, 0.014);
  EXPECT_NEAR(share[16], p.share_16, 0.014);
  for (const Job& job : generate_user_habit_jobs({}, {.seed = 2, .cluster_gpus = 8})) {
    ASSERT_LE(job.gpus, 8);
  }
}

std::string habits_error(const std::vector<std::string>& settings, LoadOptions options = {}) {
  for (const std::string& s : settings) options.settings.overlay(s);
  try {
    load_trace("synthetic:habits", options);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Habits, SettingsAreReadAndChecked) {
  EXPECT_EQ(habits_error({"load=0.5", "jobs=10"}), "no error");
  EXPECT_THAT(habits_error({"loda=0.5"}), HasSubstr("loda"));
  EXPECT_THAT(habits_error({"load=0"}), HasSubstr("load"));
  EXPECT_THAT(habits_error({"weekdays=1,2"}), HasSubstr("7 weights"));
  EXPECT_THAT(habits_error({"weekdays=0,0,0,0,0,0,0"}), HasSubstr("7 weights"));
  EXPECT_THAT(habits_error({"shortest_s=10", "longest_s=5"}), HasSubstr("got 10"));
  EXPECT_THAT(habits_error({"share_1=0", "share_2=0"}, {.cluster_gpus = 3}), HasSubstr("share_1"));
  EXPECT_THAT(habits_error({}, {.jobs = -1}), HasSubstr("-1 jobs"));
}

// Outside office hours the weights are zero: no arrival may fall there, whatever the rounding.
TEST(Habits, HoursOfWeightZeroStayEmpty) {
  UserHabitJobsParams p;
  p.jobs = 2000;
  p.sibling_gap_s = 0;
  for (size_t h = 0; h < 24; ++h) p.hours[h] = h >= 9 && h < 17 ? 1 : 0;
  p.weekdays = {1, 1, 1, 1, 1, 0, 0};
  for (const Job& job : generate_user_habit_jobs(p, {.seed = 4})) {
    const int64_t hour = job.submit_us / 1'000'000 / 3600;
    ASSERT_GE(hour % 24, 9);
    ASSERT_LT(hour % 24, 17);
    ASSERT_LT(hour / 24 % 7, 5);
  }
}

}  // namespace
}  // namespace yard
