// Metrics of a few jobs, computed by hand.
#include "env/sim/metrics/metrics.h"

#include <gtest/gtest.h>

#include <optional>
#include <utility>

#include "env/sim/metrics/accuracy.h"
#include "env/sim/state/workload.h"
#include "tests/support/seconds.h"

namespace yard {
namespace {

Job finished_job(const std::string& id, int64_t submit_s, int64_t run_s, int32_t gpus,
                 bool scored = true) {
  Job out;
  out.id = id;
  out.submit_us = submit_s * kUsPerS;
  out.run_us = run_s * kUsPerS;
  out.gpus = gpus;
  out.scored = scored;
  return out;
}

struct MetricsCase {
  explicit MetricsCase(std::vector<Job> jobs, ClusterSpec on = load_cluster("1x4"))
      : cluster(std::move(on)), spec(cluster) {
    trace.jobs = std::move(jobs);
    workload.emplace(trace, cluster);
    fixed = {spec.columns(), workload->jobs().columns(), {}};
  }

  Trace trace;
  ClusterSpec cluster;
  SpecTable spec;
  std::optional<Workload> workload;
  SimModel fixed;
};

TEST(Metrics, MatchHandComputedValuesOfFourJobs) {
  const MetricsCase it({finished_job("warm", 0, 500, 4, false), finished_job("a", 100, 10, 1),
                        finished_job("b", 200, 100, 1), finished_job("c", 300, 4, 2),
                        finished_job("d", 400, 50, 1)});
  Outcome outcome;
  outcome.begin_us = 0;
  outcome.end_us = 1000 * kUsPerS;
  outcome.held_time_us = 2000 * kUsPerS;
  outcome.jobs = {{0, 500 * kUsPerS, 9, 9},              // unscored: in no figure
                  {110 * kUsPerS, 120 * kUsPerS, 0, 0},  // JCT 20 s, wait 10 s
                  {200 * kUsPerS, 360 * kUsPerS, 2, 2},  // JCT 160 s, wait 60 s
                  {300 * kUsPerS, 304 * kUsPerS, 0, 0},  // JCT 4 s, wait 0
                  {kNone, kNone, 1, 0}};                 // did not end
  const Summary s = summarise(it.trace, it.fixed, isolated_run_us(it.trace, it.fixed), outcome);
  EXPECT_EQ(s.all.jobs, 4);
  EXPECT_EQ(s.all.finished, 3);
  EXPECT_EQ(s.all.sum_jct_us, 184 * kUsPerS);
  EXPECT_DOUBLE_EQ(s.all.mean_jct_s, 184.0 / 3);
  EXPECT_DOUBLE_EQ(s.all.p50_jct_s, 20);
  EXPECT_DOUBLE_EQ(s.all.p95_jct_s, 160);
  EXPECT_DOUBLE_EQ(s.all.p99_jct_s, 160);
  EXPECT_DOUBLE_EQ(s.all.mean_wait_s, 70.0 / 3);
  EXPECT_DOUBLE_EQ(s.all.max_wait_s, 60);
  EXPECT_DOUBLE_EQ(s.all.mean_run_s, 38);
  // 20 / 10; 160 / 100; run times under 10 s count as 10 s, and 4 / 10 counts as 1.
  EXPECT_DOUBLE_EQ(s.mean_slowdown, (2 + 1.6 + 1) / 3);
  EXPECT_DOUBLE_EQ(s.makespan_s, 260);
  EXPECT_DOUBLE_EQ(s.utilisation, 0.5);
  EXPECT_EQ(s.preemptions, 3);
  EXPECT_EQ(s.restarts, 2);
  ASSERT_EQ(s.classes.size(), 2u);
  EXPECT_EQ(s.classes[0].gpus, 1);
  EXPECT_EQ(s.classes[0].all.jobs, 3);
  EXPECT_EQ(s.classes[0].all.finished, 2);
  EXPECT_EQ(s.classes[0].all.sum_jct_us, 180 * kUsPerS);
  EXPECT_EQ(s.classes[1].gpus, 2);
  EXPECT_DOUBLE_EQ(s.classes[1].all.mean_jct_s, 4);
}

TEST(Metrics, SumsBeyondSixtyFourBits) {
  const MetricsCase it(
      {finished_job("a", 0, 10, 1), finished_job("b", 0, 10, 1), finished_job("c", 0, 10, 1)});
  const int64_t age_us = 4'000'000'000'000 * kUsPerS;
  Outcome outcome;
  outcome.end_us = age_us + 10 * kUsPerS;
  for (int i = 0; i < 3; ++i) outcome.jobs.push_back({age_us, age_us + 10 * kUsPerS, 0, 0});
  const Summary s = summarise(it.trace, it.fixed, isolated_run_us(it.trace, it.fixed), outcome);
  EXPECT_EQ(s.all.sum_jct_us, WideUs{3} * (age_us + 10 * kUsPerS));
  EXPECT_DOUBLE_EQ(s.all.mean_jct_s, 4e12 + 10);
  EXPECT_DOUBLE_EQ(s.all.mean_wait_s, 4e12);
}

TEST(Metrics, NearestRankOfAHundred) {
  std::vector<Job> jobs;
  Outcome outcome;
  for (int i = 1; i <= 100; ++i) {
    jobs.push_back(finished_job(std::to_string(i), 0, i, 1));
    outcome.jobs.push_back({0, i * kUsPerS, 0, 0});
  }
  const MetricsCase it(jobs);
  const Summary s = summarise(it.trace, it.fixed, isolated_run_us(it.trace, it.fixed), outcome);
  EXPECT_DOUBLE_EQ(s.all.p50_jct_s, 50);
  EXPECT_DOUBLE_EQ(s.all.p95_jct_s, 95);
  EXPECT_DOUBLE_EQ(s.all.p99_jct_s, 99);
}

TEST(Metrics, IsolatedRunTimeUsesTheFastestGpusThatFit) {
  ClusterSpec cluster = load_cluster("1x2:slow+1x4:fast");
  cluster.types[0].speed = 0.5;
  cluster.types[1].speed = 2;
  std::vector<Job> jobs = {finished_job("a", 0, 100, 1), finished_job("b", 0, 100, 4),
                           finished_job("c", 0, 100, 6), finished_job("d", 0, 100, 1),
                           finished_job("e", 0, 100, 0)};
  jobs[3].gpu_types = {"slow"};
  const MetricsCase it(jobs, cluster);
  EXPECT_EQ(isolated_run_us(it.trace, it.fixed),
            (std::vector<int64_t>{50 * kUsPerS, 50 * kUsPerS,
                                  200 * kUsPerS,     // one task is on a slow GPU
                                  200 * kUsPerS,     // it may run on no other type
                                  100 * kUsPerS}));  // all CPUs are equal
}

TEST(Metrics, IsolatedRunTimeUsesTheModelsSpeeds) {
  ClusterSpec cluster = load_cluster("1x2:old+1x2:new");
  cluster.types[1].speed = 2;
  cluster.types[1].speed_of_model = {{"bert", 4}, {"lstm", 0.5}};
  std::vector<Job> jobs = {finished_job("a", 0, 100, 1), finished_job("b", 0, 100, 1),
                           finished_job("c", 0, 100, 1)};
  jobs[0].model = "bert";
  jobs[1].model = "lstm";
  const MetricsCase it(jobs, cluster);
  EXPECT_EQ(isolated_run_us(it.trace, it.fixed),
            (std::vector<int64_t>{25 * kUsPerS, 100 * kUsPerS, 50 * kUsPerS}));
}

TEST(Metrics, MeanWithoutFinishedJobsIsNotANumber) {
  const MetricsCase it({finished_job("a", 0, 10, 1)});
  Outcome outcome;
  outcome.jobs = {{}};
  const Summary s = summarise(it.trace, it.fixed, isolated_run_us(it.trace, it.fixed), outcome);
  EXPECT_EQ(s.all.jobs, 1);
  EXPECT_EQ(s.all.finished, 0);
  EXPECT_EQ(s.all.sum_jct_us, 0);
  EXPECT_EQ(s.makespan_s, 0);
}

TEST(Metrics, JobsEndedEarlyAreCountedSeparately) {
  const MetricsCase it({finished_job("a", 0, 100, 2), finished_job("b", 0, 50, 1),
                        finished_job("c", 0, 40, 1), finished_job("open", 0, 9, 1),
                        finished_job("warm", 0, 50, 1, false)});
  Outcome outcome;
  outcome.jobs = {{0, 60 * kUsPerS}, {0, 50 * kUsPerS}, {0, 70 * kUsPerS}, {}, {0, 10 * kUsPerS}};
  EXPECT_FALSE(summarise(it.trace, it.fixed, isolated_run_us(it.trace, it.fixed), outcome).early);
  for (const size_t j : {0U, 4U}) {
    outcome.jobs[j].ended_early = true;
    outcome.jobs[j].undone_us = 40e6;
  }
  const Summary s = summarise(it.trace, it.fixed, isolated_run_us(it.trace, it.fixed), outcome);
  EXPECT_EQ(s.all.finished, 3);
  EXPECT_DOUBLE_EQ(s.all.mean_jct_s, 60);
  ASSERT_TRUE(s.early);
  EXPECT_EQ(s.early->jobs, 1);
  EXPECT_DOUBLE_EQ(s.early->mean_jct_s, 60);
  EXPECT_DOUBLE_EQ(s.early->others_mean_jct_s, 60);
  EXPECT_DOUBLE_EQ(s.early->undone_share, 80.0 / 290);
}

TEST(Accuracy, MatchesHandComputation) {
  Trace trace;
  trace.jobs = {finished_job("reached", 0, 100, 1), finished_job("late", 0, 100, 1),
                finished_job("half", 0, 100, 1),    finished_job("worse", 0, 100, 1),
                finished_job("open", 0, 100, 1),    finished_job("no curve", 0, 100, 1),
                finished_job("unsaid", 0, 100, 1)};
  for (Job& one : trace.jobs) one.curve = {{0, 2, 0}, {0.5, 1, 0}, {1, 0.5, 0}};
  for (Job& one : trace.jobs) one.enough = 1;
  for (const size_t j : {0U, 1U, 2U}) trace.jobs[j].dues = {{120 * kUsPerS, 1}};
  trace.jobs[3].curve = {{0, 2, 0}, {1, 3, 0}};
  trace.jobs[5].curve.clear();
  trace.jobs[6].enough = Job::kNoTarget;
  Outcome outcome;
  outcome.jobs.resize(7);
  for (const size_t j : {0U, 1U, 2U, 3U, 5U, 6U}) outcome.jobs[j].end_us = 100 * kUsPerS;
  outcome.jobs[0].undone_us = 50e6;
  outcome.jobs[1].end_us = 130 * kUsPerS;
  outcome.jobs[2].undone_us = 75e6;
  const auto accuracy = accuracy_of(trace, outcome);
  ASSERT_TRUE(accuracy);
  EXPECT_EQ(accuracy->jobs, 4);
  EXPECT_EQ(accuracy->reached, 2);
  EXPECT_EQ(accuracy->due, 3);
  EXPECT_EQ(accuracy->due_reached, 1);
  EXPECT_DOUBLE_EQ(accuracy->mean, (1 + 1 + 0.5 + 0) / 4);
  for (Job& one : trace.jobs) one.enough = Job::kNoTarget;
  EXPECT_FALSE(accuracy_of(trace, outcome));
}

}  // namespace
}  // namespace yard
