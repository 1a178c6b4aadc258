// Metrics of a few jobs, computed by hand.
#include "env/sim/metrics/metrics.h"

#include <gtest/gtest.h>

#include <optional>
#include <utility>

#include "env/sim/metrics/accuracy.h"
#include "env/sim/state/workload.h"

namespace yard {
namespace {

constexpr int64_t kS = 1'000'000;

Job job(const std::string& id, int64_t submit_s, int64_t run_s, int32_t gpus, bool scored = true) {
  Job out;
  out.id = id;
  out.submit_us = submit_s * kS;
  out.run_us = run_s * kS;
  out.gpus = gpus;
  out.scored = scored;
  return out;
}

struct Case {
  explicit Case(std::vector<Job> jobs, ClusterSpec on = load_cluster("1x4"))
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
  const Case it({job("warm", 0, 500, 4, false), job("a", 100, 10, 1), job("b", 200, 100, 1),
                 job("c", 300, 4, 2), job("d", 400, 50, 1)});
  Outcome outcome;
  outcome.begin_us = 0;
  outcome.end_us = 1000 * kS;
  outcome.held_time_us = 2000 * kS;
  outcome.jobs = {{0, 500 * kS, 9, 9},         // unscored: in no figure
                  {110 * kS, 120 * kS, 0, 0},  // JCT 20 s, wait 10 s
                  {200 * kS, 360 * kS, 2, 2},  // JCT 160 s, wait 60 s
                  {300 * kS, 304 * kS, 0, 0},  // JCT 4 s, wait 0
                  {kNone, kNone, 1, 0}};       // did not end
  const Summary s = summarise(it.trace, it.fixed, isolated_run_us(it.trace, it.fixed), outcome);
  EXPECT_EQ(s.all.jobs, 4);
  EXPECT_EQ(s.all.finished, 3);
  EXPECT_EQ(s.all.sum_jct_us, 184 * kS);
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
  EXPECT_EQ(s.classes[0].all.sum_jct_us, 180 * kS);
  EXPECT_EQ(s.classes[1].gpus, 2);
  EXPECT_DOUBLE_EQ(s.classes[1].all.mean_jct_s, 4);
}

TEST(Metrics, SumsBeyondSixtyFourBits) {
  const Case it({job("a", 0, 10, 1), job("b", 0, 10, 1), job("c", 0, 10, 1)});
  const int64_t age_us = 4'000'000'000'000 * kS;
  Outcome outcome;
  outcome.end_us = age_us + 10 * kS;
  for (int i = 0; i < 3; ++i) outcome.jobs.push_back({age_us, age_us + 10 * kS, 0, 0});
  const Summary s = summarise(it.trace, it.fixed, isolated_run_us(it.trace, it.fixed), outcome);
  EXPECT_EQ(s.all.sum_jct_us, WideUs{3} * (age_us + 10 * kS));
  EXPECT_DOUBLE_EQ(s.all.mean_jct_s, 4e12 + 10);
  EXPECT_DOUBLE_EQ(s.all.mean_wait_s, 4e12);
}

TEST(Metrics, NearestRankOfAHundred) {
  std::vector<Job> jobs;
  Outcome outcome;
  for (int i = 1; i <= 100; ++i) {
    jobs.push_back(job(std::to_string(i), 0, i, 1));
    outcome.jobs.push_back({0, i * kS, 0, 0});
  }
  const Case it(jobs);
  const Summary s = summarise(it.trace, it.fixed, isolated_run_us(it.trace, it.fixed), outcome);
  EXPECT_DOUBLE_EQ(s.all.p50_jct_s, 50);
  EXPECT_DOUBLE_EQ(s.all.p95_jct_s, 95);
  EXPECT_DOUBLE_EQ(s.all.p99_jct_s, 99);
}

TEST(Metrics, IsolatedRunTimeUsesTheFastestGpusThatFit) {
  ClusterSpec cluster = load_cluster("1x2:slow+1x4:fast");
  cluster.types[0].speed = 0.5;
  cluster.types[1].speed = 2;
  std::vector<Job> jobs = {job("a", 0, 100, 1), job("b", 0, 100, 4), job("c", 0, 100, 6),
                           job("d", 0, 100, 1), job("e", 0, 100, 0)};
  jobs[3].gpu_types = {"slow"};
  const Case it(jobs, cluster);
  EXPECT_EQ(isolated_run_us(it.trace, it.fixed),
            (std::vector<int64_t>{50 * kS, 50 * kS,
                                  200 * kS,     // one task is on a slow GPU
                                  200 * kS,     // it may run on no other type
                                  100 * kS}));  // all CPUs are equal
}

TEST(Metrics, IsolatedRunTimeUsesTheModelsSpeeds) {
  ClusterSpec cluster = load_cluster("1x2:old+1x2:new");
  cluster.types[1].speed = 2;
  cluster.types[1].speed_of_model = {{"bert", 4}, {"lstm", 0.5}};
  std::vector<Job> jobs = {job("a", 0, 100, 1), job("b", 0, 100, 1), job("c", 0, 100, 1)};
  jobs[0].model = "bert";
  jobs[1].model = "lstm";
  const Case it(jobs, cluster);
  EXPECT_EQ(isolated_run_us(it.trace, it.fixed),
            (std::vector<int64_t>{25 * kS, 100 * kS, 50 * kS}));
}

TEST(Metrics, MeanWithoutFinishedJobsIsNotANumber) {
  const Case it({job("a", 0, 10, 1)});
  Outcome outcome;
  outcome.jobs = {{}};
  const Summary s = summarise(it.trace, it.fixed, isolated_run_us(it.trace, it.fixed), outcome);
  EXPECT_EQ(s.all.jobs, 1);
  EXPECT_EQ(s.all.finished, 0);
  EXPECT_EQ(s.all.sum_jct_us, 0);
  EXPECT_EQ(s.makespan_s, 0);
}

TEST(Metrics, JobsEndedEarlyAreCountedSeparately) {
  const Case it({job("a", 0, 100, 2), job("b", 0, 50, 1), job("c", 0, 40, 1), job("open", 0, 9, 1),
                 job("warm", 0, 50, 1, false)});
  Outcome outcome;
  outcome.jobs = {{0, 60 * kS}, {0, 50 * kS}, {0, 70 * kS}, {}, {0, 10 * kS}};
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
  trace.jobs = {job("reached", 0, 100, 1), job("late", 0, 100, 1), job("half", 0, 100, 1),
                job("worse", 0, 100, 1),   job("open", 0, 100, 1), job("no curve", 0, 100, 1),
                job("unsaid", 0, 100, 1)};
  for (Job& one : trace.jobs) one.curve = {{0, 2, 0}, {0.5, 1, 0}, {1, 0.5, 0}};
  for (Job& one : trace.jobs) one.enough = 1;
  for (const size_t j : {0U, 1U, 2U}) trace.jobs[j].dues = {{120 * kS, 1}};
  trace.jobs[3].curve = {{0, 2, 0}, {1, 3, 0}};
  trace.jobs[5].curve.clear();
  trace.jobs[6].enough = Job::kNoTarget;
  Outcome outcome;
  outcome.jobs.resize(7);
  for (const size_t j : {0U, 1U, 2U, 3U, 5U, 6U}) outcome.jobs[j].end_us = 100 * kS;
  outcome.jobs[0].undone_us = 50e6;
  outcome.jobs[1].end_us = 130 * kS;
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
