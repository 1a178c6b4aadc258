// The rule set `rlscheduler` against a slow simulator of the same rules, for random workloads and
// machines, and by hand where the order decides.
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "env/base/core/error.h"
#include "env/sim/metrics/metrics.h"
#include "tests/reference/rlscheduler_reference.h"
#include "tests/support/scene.h"
#include "tests/support/step_checker.h"

namespace yard::testing {
namespace {

struct Rules {
  std::string policy;
  bool backfill = false;
  int window = 1024;
};

Outcome replay_rlscheduler(const Scene& scene, const Rules& rules,
                           std::function<void(const SimState&)> watch = nullptr) {
  Settings settings;
  settings.set("backfill", rules.backfill ? "1" : "0", "test");
  settings.set("window", std::to_string(rules.window), "test");
  return RuleSetRegistry::make("rlscheduler", settings)
      ->replay({.fixed = scene.fixed(),
                .workload = scene.workload(),
                .first_job = 0,
                .end_job = scene.size(),
                .policy = rules.policy,
                .placement = {},
                .settings = {},
                .trace = &scene.trace(),
                .watch = std::move(watch)});
}

// Returns jobs by submission, with mostly increasing numbers as ids. Times are coarse: many jobs
// arrive, end and are predicted to end at the same time.
std::vector<Job> random_numbered_jobs(Rng& rng, int procs) {
  const auto count = 2 + rng.below(120);
  const int64_t grain_s = 1 + rng.below(3) * 30;
  const uint32_t gap = 1 + rng.below(30), length = 2 + rng.below(40);
  std::vector<Job> jobs(count);
  std::vector<int64_t> ids(count);
  std::iota(ids.begin(), ids.end(), 100);
  if (rng.below(3) == 0) {
    for (uint32_t i = 0; i < count / 3; ++i) {
      const uint32_t at = rng.below(count - 1);
      std::swap(ids[at], ids[at + 1]);
    }
  }
  int64_t at_s = rng.below(1000);
  for (uint32_t j = 0; j < count; ++j) {
    if (rng.below(3) != 0) at_s += rng.below(gap) * grain_s;
    Job& job = jobs[j];
    job.id = std::to_string(ids[j]);
    job.submit_us = at_s * kSecond;
    job.run_us = (1 + rng.below(length)) * grain_s * kSecond;
    const uint32_t largest = rng.below(2) == 0 ? 4 : static_cast<uint32_t>(procs);
    job.gpus = std::min<int32_t>(procs, static_cast<int32_t>(1 + rng.below(largest)));
    switch (rng.below(5)) {
      case 0:
        break;  // no requested time
      case 1:
        job.limit_us = job.run_us;
        break;
      case 2:
        job.limit_us = job.run_us + rng.below(10) * grain_s * kSecond;
        break;
      case 3:
        job.run_us = 10 * kSecond;  // the log has neither time
        job.run_unknown = true;
        break;
      default:
        job.limit_us = (1 + rng.below(10)) * grain_s * kSecond;  // the run time may exceed it
    }
  }
  return jobs;
}

class RlSchedulerRandom : public ::testing::TestWithParam<std::string> {};

TEST_P(RlSchedulerRandom, MatchesTheReferenceSimulator) {
  int64_t late_seen = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng = Rng{seed}.split(2);
    const int procs = std::vector<int>{4, 7, 16, 64}[rng.below(4)];
    const std::vector<Job> jobs = random_numbered_jobs(rng, procs);
    const Scene scene(std::to_string(procs) + "x1", jobs);
    // The original orders by number.
    std::vector<size_t> order(jobs.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::sort(order.begin(), order.end(),
              [&](size_t a, size_t b) { return std::stoll(jobs[a].id) < std::stoll(jobs[b].id); });
    std::vector<reference::RlJob> plain;
    for (const size_t j : order) {
      const Job& job = jobs[j];
      const int64_t requested_us = job.limit_us >= 0 ? job.limit_us
                                   : job.run_unknown ? -kSecond
                                                     : job.run_us;
      plain.push_back(
          {job.submit_us / kSecond, job.run_us / kSecond, requested_us / kSecond, job.gpus});
    }
    for (const bool backfill : {false, true}) {
      SCOPED_TRACE(backfill);
      StepChecker checker(scene.fixed());
      const Outcome fast = replay_rlscheduler(scene, {GetParam(), backfill}, checker.watcher());
      ASSERT_EQ(checker.broken(), "");
      const std::vector<int64_t> start_s =
          reference::rlscheduler(plain, procs, GetParam(), backfill);
      for (size_t i = 0; i < order.size(); ++i) {
        SCOPED_TRACE("job " + jobs[order[i]].id);
        const JobOutcome& what = fast.jobs[order[i]];
        ASSERT_EQ(what.start_us, start_s[i] * kSecond);
        ASSERT_EQ(what.end_us, (start_s[i] + plain[i].run_s) * kSecond);
        ASSERT_EQ(what.preemptions, 0);
      }
      // The published score equals the mean slowdown of our summaries.
      const Summary summary = summarise(scene.trace(), scene.fixed(),
                                        isolated_run_us(scene.trace(), scene.fixed()), fast);
      EXPECT_NEAR(summary.mean_slowdown, reference::rlscheduler_score(plain, start_s),
                  1e-12 * summary.mean_slowdown);  // sums of doubles in another order
      late_seen += summary.all.max_wait_s > 0;
    }
  }
  EXPECT_GT(late_seen, 300) << "otherwise jobs hardly ever wait";
}

INSTANTIATE_TEST_SUITE_P(All, RlSchedulerRandom, ::testing::Values("fcfs", "sjf", "smallest"));

TEST(RlScheduler, CommitsBeforeConsideringLaterArrivals) {
  // a runs at once, and the queue is empty. b is then dequeued and committed to before c is
  // considered, which is shorter and was submitted meanwhile.
  const Scene scene("1x4", jobs_of({{0, 4, 100}, {10, 4, 50}, {20, 4, 5}}));
  const Outcome outcome = replay_rlscheduler(scene, {"sjf"});
  EXPECT_EQ(outcome.jobs[1].start_us, 100 * kSecond);
  EXPECT_EQ(outcome.jobs[2].start_us, 150 * kSecond);
}

TEST(RlScheduler, BackfillKeepsTheReservation) {
  // b is committed to and may start at 100. c fits next to a and ends at 90 < 100; d does not.
  const Scene scene("1x4", jobs_of({{0, 3, 100}, {10, 4, 50}, {20, 1, 70}, {20, 1, 80}}));
  const Outcome plain = replay_rlscheduler(scene, {"fcfs"});
  EXPECT_EQ(plain.jobs[2].start_us, 150 * kSecond);
  const Outcome outcome = replay_rlscheduler(scene, {"fcfs", true});
  EXPECT_EQ(outcome.jobs[1].start_us, 100 * kSecond);
  EXPECT_EQ(outcome.jobs[2].start_us, 20 * kSecond);
  EXPECT_EQ(outcome.jobs[3].start_us, 150 * kSecond);
}

TEST(RlScheduler, JobWithoutTimesRequestsMinusOneSecond) {
  // c, d and e are queued when b ends. d requests -1 s and precedes c and e, which request less
  // than the 10 s of its run time.
  std::vector<Job> jobs = jobs_of({{0, 4, 100}, {5, 4, 50}, {6, 4, 3}, {7, 4, 10}, {8, 4, 1}});
  jobs[3].run_unknown = true;
  const Outcome outcome = replay_rlscheduler(Scene("1x4", jobs), {"sjf"});
  EXPECT_EQ(outcome.jobs[1].start_us, 100 * kSecond);
  EXPECT_EQ(outcome.jobs[3].start_us, 150 * kSecond);
  EXPECT_EQ(outcome.jobs[4].start_us, 160 * kSecond);
  jobs[3].limit_us = 10 * kSecond;  // the user's request takes precedence
  EXPECT_EQ(replay_rlscheduler(Scene("1x4", jobs), {"sjf"}).jobs[3].start_us, 154 * kSecond);
}

TEST(RlScheduler, PlaysOnlyTheScoredJobs) {
  std::vector<Job> jobs = jobs_of({{0, 4, 500}, {1, 4, 10}, {2, 4, 10}, {3, 4, 10}, {4, 4, 10}});
  jobs[0].scored = jobs[4].scored = false;
  jobs[2].run_us = 0;  // dropped, as in the original
  const Scene scene("1x4", jobs);
  const Outcome outcome = replay_rlscheduler(scene, {"fcfs", false, 2});
  EXPECT_EQ(outcome.begin_us, 1 * kSecond);
  EXPECT_EQ(outcome.jobs[0].start_us, kNone);
  EXPECT_EQ(outcome.jobs[1].start_us, 1 * kSecond);
  EXPECT_EQ(outcome.jobs[2].start_us, kNone);
  EXPECT_EQ(outcome.jobs[3].start_us, 11 * kSecond);
  EXPECT_EQ(outcome.jobs[4].start_us, kNone);
  const Outcome shorter = replay_rlscheduler(scene, {"fcfs", false, 1});
  EXPECT_EQ(shorter.jobs[3].start_us, kNone);
}

TEST(RlScheduler, OversizedJobIsAnError) {
  const Scene scene("1x4", jobs_of({{0, 5, 10}}));
  EXPECT_THROW(replay_rlscheduler(scene, {"fcfs"}), RunError);
  EXPECT_THROW(replay_rlscheduler(scene, {"fcfs", true}), RunError);
}

TEST(RlScheduler, BackfillIsZeroOrOne) {
  Settings settings;
  settings.set("backfill", "2", "test");
  EXPECT_THROW(RuleSetRegistry::make("rlscheduler", settings), InputError);
}

}  // namespace
}  // namespace yard::testing
