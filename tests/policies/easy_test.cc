// EASY by hand: which jobs may start ahead of a queue head that does not fit.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/scene.h"

namespace yard::testing {
namespace {

struct JobOutline {
  double submit_s;
  int32_t gpus;
  double run_s, limit_s;  // limit below 0: none
};

// Returns when each job starts, in seconds, on four GPUs.
std::vector<double> starts(const std::vector<JobOutline>& lines) {
  std::vector<Job> jobs;
  for (const JobOutline& line : lines) {
    jobs.push_back(jobs_of({{line.submit_s, line.gpus, line.run_s}})[0]);
    jobs.back().id = std::to_string(jobs.size());
    if (line.limit_s >= 0) jobs.back().limit_us = static_cast<int64_t>(line.limit_s * kSecond);
  }
  const Scene scene("1x4", jobs);
  const auto policy = make_policy("easy");
  SceneRunner runner(scene, *policy);
  runner.play();
  EXPECT_FALSE(runner.failed());
  std::vector<double> out;
  for (const JobOutcome& job : runner.jobs()) {
    out.push_back(static_cast<double>(job.start_us) / kSecond);
  }
  return out;
}

using Starts = std::vector<double>;

TEST(Easy, BackfillsJobsThatEndInTime) {
  // The head is reserved all four GPUs at 100; from 10 on, 90 s are left.
  EXPECT_EQ(starts({{0, 3, 100, 100}, {5, 4, 50, 50}, {10, 1, 90, 90}}), (Starts{0, 100, 10}));
  EXPECT_EQ(starts({{0, 3, 100, 100}, {5, 4, 50, 50}, {10, 1, 91, 91}}), (Starts{0, 100, 150}));
  EXPECT_EQ(starts({{0, 3, 100, 100}, {5, 4, 50, 50}, {10, 1, 20, -1}}), (Starts{0, 100, 150}))
      << "without a limit its end is unknown";
}

TEST(Easy, UsesItsPlacement) {
  // From 10 on one GPU is free on each of two nodes.
  const Scene scene("2x2",
                    jobs_of({{0, 1, 100}, {0, 1, 10}, {0, 1, 300}, {0, 1, 10}, {20, 2, 50}}));
  for (const auto& [policy, start_s] :
       {std::pair{"easy", 20}, std::pair{"easy placement=consolidate", 100}}) {
    const auto easy = make_policy(policy);
    SceneRunner runner(scene, *easy);
    runner.play();
    EXPECT_FALSE(runner.failed());
    EXPECT_EQ(runner.jobs()[4].start_us, start_s * kSecond) << policy;
  }
}

TEST(Easy, ReservationUsesLimitsNotRunTimes) {
  // The running job may take 200 s, so 150 s are over in time. It ends at 50, and the head waits
  // until 10 + 150.
  EXPECT_EQ(starts({{0, 3, 50, 200}, {5, 4, 50, 50}, {10, 1, 150, 150}}), (Starts{0, 160, 10}));
}

TEST(Easy, GpusNotNeededByTheHeadCanBeBackfilled) {
  // At 100 four GPUs are free and the head takes three: one is spare, for any length of time.
  EXPECT_EQ(starts({{0, 3, 100, 100}, {5, 3, 50, 50}, {10, 1, 500, 500}}), (Starts{0, 100, 10}));
  EXPECT_EQ(starts({{0, 2, 100, 100}, {5, 3, 50, 50}, {10, 1, 500, 500}, {11, 1, 500, 500}}),
            (Starts{0, 100, 10, 150}))
      << "it can be used once";
  EXPECT_EQ(starts({{0, 1, 100, 100}, {5, 4, 50, 50}, {10, 1, 95, 95}, {10, 1, 95, 95}}),
            (Starts{0, 100, 150, 150}))
      << "nothing is spare";
  EXPECT_EQ(starts({{0, 2, 100, 100}, {5, 3, 50, 50}, {5, 1, 500, 500}, {5, 1, 500, 500}}),
            (Starts{0, 100, 5, 150}))
      << "once within a decision, too";
}

TEST(Easy, JobsThatEndInTimeUseNoSpareGpus) {
  // One GPU is spare at 100. The first job ends before, and leaves it to the second.
  EXPECT_EQ(starts({{0, 2, 100, 100}, {5, 3, 50, 50}, {10, 1, 80, 80}, {11, 1, 500, 500}}),
            (Starts{0, 100, 10, 11}));
}

TEST(Easy, ReservationIsWhenTheHeadFits) {
  // One GPU comes free at 60, another at 100. The head needs both, so it waits until 100.
  EXPECT_EQ(
      starts({{0, 1, 60, 60}, {0, 1, 100, 100}, {0, 1, 300, 300}, {5, 3, 50, 50}, {10, 1, 90, 90}}),
      (Starts{0, 0, 0, 100, 10}));
  EXPECT_EQ(
      starts({{0, 1, 60, 60}, {0, 1, 100, 100}, {0, 1, 300, 300}, {5, 3, 50, 50}, {10, 1, 95, 95}}),
      (Starts{0, 0, 0, 100, 150}));
}

TEST(Easy, JobWithoutLimitWaitsBehindAHeadWithoutReservation) {
  EXPECT_EQ(starts({{0, 3, 100, -1}, {5, 4, 50, -1}, {10, 1, 20, -1}}), (Starts{0, 100, 150}))
      << "not at 10, as under greedy";
  EXPECT_EQ(starts({{0, 3, 100, 100}, {5, 3, 50, -1}, {10, 1, 20, -1}}), (Starts{0, 100, 10}))
      << "one GPU is spare whenever the head starts";
}

TEST(Easy, DoesNotDelayAHeadThatMayWaitForEver) {
  EXPECT_EQ(starts({{0, 3, 100, -1}, {5, 4, 50, 50}, {10, 1, 20, 20}}), (Starts{0, 100, 10}))
      << "the head may wait for ever, so no backfilled job delays it";
}

}  // namespace
}  // namespace yard::testing
