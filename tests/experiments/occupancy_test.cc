// How full a cluster was, against values computed by hand.
#include "experiments/replay/occupancy.h"

#include <gtest/gtest.h>

#include <cmath>

#include "env/cluster/spec.h"
#include "experiments/evaluate/queue_check.h"
#include "experiments/replay/replay.h"

namespace yard {
namespace {

constexpr int64_t kHourUs = 3'600'000'000;

Job job_of(const char* id, int64_t submit_h, int32_t gpus, int64_t run_h, int64_t start_h) {
  Job job;
  job.id = id;
  job.submit_us = submit_h * kHourUs;
  job.gpus = gpus;
  job.run_us = run_h * kHourUs;
  job.logged_start_us = start_h * kHourUs;
  job.logged_end_us = job.logged_start_us + job.run_us;
  return job;
}

// a: four GPUs for two hours. b: two GPUs for four hours, started an hour after submission.
std::vector<Job> two_jobs() { return {job_of("a", 0, 4, 2, 0), job_of("b", 1, 2, 4, 2)}; }

void check(const OccupancyFigures& f) {
  // Held by hour: 1, 1, .5, .5, .5, .5 of the GPUs; a job waits in one hour of six.
  EXPECT_DOUBLE_EQ(f.held, 4.0 / 6);
  EXPECT_DOUBLE_EQ(f.held_sd, std::sqrt((2.0 / 9 + 4.0 / 36) / 6));
  EXPECT_DOUBLE_EQ(f.waiting, 1.0 / 6);
  EXPECT_DOUBLE_EQ(f.queued, 1.0 / 6);
  EXPECT_TRUE(std::isnan(f.autocorrelation_24h));
}

TEST(Occupancy, MatchesHandComputationOfALog) {
  check(logged_occupancy(two_jobs(), 4).figures(0, 6 * kHourUs));
}

TEST(Occupancy, ReplayAndLogAgreeOnEqualRuns) {
  Trace trace;
  trace.jobs = two_jobs();
  const Scenario scenario(trace, {.to_us = kHourUs + 1, .scored = 2}, load_cluster("1x4"), 0);
  Occupancy seen(4);
  RunOptions options;
  options.watch = [&](const SimModel&, const SimState& state) { seen.record_state(state); };
  run_policy(scenario, "fifo", options);
  check(seen.figures(0, 6 * kHourUs));
}

TEST(Occupancy, CountsOnlyTheGivenInterval) {
  const OccupancyFigures f = logged_occupancy(two_jobs(), 4).figures(kHourUs / 2, 5 * kHourUs / 2);
  EXPECT_DOUBLE_EQ(f.held, (1.5 * 1 + 0.5 * 0.5) / 2);
  EXPECT_DOUBLE_EQ(f.queued, 0.5);
}

// Hourly occupancy 1, 0, 1, 0, ...: anticorrelated after one hour, correlated after 24.
TEST(Occupancy, CorrelatesHours) {
  std::vector<Job> jobs;
  for (int i = 0; i < 60; ++i) jobs.push_back(job_of("", 2 * i, 1, 1, 2 * i));
  const OccupancyFigures f = logged_occupancy(jobs, 1).figures(0, 120 * kHourUs);
  EXPECT_NEAR(f.autocorrelation_1h, -1, 1e-9);
  EXPECT_NEAR(f.autocorrelation_24h, 1, 1e-9);
  EXPECT_DOUBLE_EQ(f.held, 0.5);
  EXPECT_DOUBLE_EQ(f.held_sd, 0.5);
  EXPECT_EQ(f.queued, 0);
}

// Without a target congestion arrivals are not scaled, and the log is listed with the replays.
TEST(LikeCheck, UnscaledReplayKeepsTheRecordedArrivals) {
  TracePart part;
  for (int i = 0; i < 60; ++i) {
    part.jobs.push_back(job_of("", 2 * i, 2, 1, 2 * i + 1));
    part.jobs.back().id = std::to_string(i);
  }
  part.to_us = 120 * kHourUs;
  const QueueingComparison check =
      compare_queueing(part, {part.jobs}, load_cluster("1x4"), 0, {"fifo"});
  ASSERT_TRUE(check.logged.has_value());
  EXPECT_DOUBLE_EQ(check.logged->mean_wait_s, 3600);
  EXPECT_DOUBLE_EQ(check.logged->mean_jct_s, 7200);
  EXPECT_DOUBLE_EQ(check.load, 0.25);
  ASSERT_EQ(check.rows.size(), 1u);
  EXPECT_DOUBLE_EQ(check.rows[0].real.mean_wait_s, 0);
  EXPECT_DOUBLE_EQ(check.rows[0].generated[0].occupancy.held, check.rows[0].real.occupancy.held);
  part.jobs[7].logged_end_us = -1;
  EXPECT_FALSE(compare_queueing(part, {part.jobs}, load_cluster("1x4"), 0, {"fifo"}).logged);
}

}  // namespace
}  // namespace yard
