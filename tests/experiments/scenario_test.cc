// Scenarios reach their congestion, replicas vary only arrivals, and the test split stays closed.
#include "experiments/scenario/scenario.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "env/base/core/error.h"
#include "experiments/replay/congestion.h"
#include "experiments/replay/load_scenario.h"
#include "experiments/replay/replay.h"
#include "tests/support/measurements.h"
#include "tests/support/seconds.h"

namespace yard {
namespace {

using ::testing::HasSubstr;

ScenarioOptions habits_scenario(int jobs) {
  ScenarioOptions options;
  options.trace = "synthetic:habits";
  options.cluster = "4x8";
  options.generate_jobs = jobs;
  return options;
}

// A recorded trace of `jobs` jobs, one every 100 s.
TraceOnCluster recorded(int jobs) {
  TraceOnCluster source;
  source.cluster = load_cluster("1x4");
  source.trace.source = "jobs.csv";
  for (int i = 0; i < jobs; ++i) {
    Job job;
    job.id = std::to_string(i);
    job.submit_us = i * 100 * kUsPerS;
    job.run_us = (50 + i % 7 * 60) * kUsPerS;
    job.gpus = 1 + i % 4;
    source.trace.jobs.push_back(job);
  }
  return source;
}

TEST(Scenario, ReachesTheTargetCongestion) {
  for (const double target : {0.3, 1.0, 3.0}) {
    ScenarioOptions options = habits_scenario(600);
    options.congestion = target;
    const Scenario scenario = load_scenario(options);
    const JctSummary all = run_policy(scenario, "greedy", {}).summary.all;
    // Congestion jumps between stretch factors; calibrate_arrivals() accepts deviations up to 5 %.
    EXPECT_NEAR(all.mean_wait_s / all.mean_run_s / target, 1, 0.05);
    EXPECT_DOUBLE_EQ(scenario.congestion, all.mean_wait_s / all.mean_run_s);
  }
}

// Adds measured speeds: jobs of `source` run as logged on a V100, ten times slower on a K80.
void add_speeds(TraceOnCluster& source) {
  const std::string table = testing::written(
      "throughputs.json", R"json({"v100": {"('LM (batch size 5)', 1)": {"null": 10.0}},
                                  "k80": {"('LM (batch size 5)', 1)": {"null": 1.0}}})json");
  source.cluster = load_cluster("1x1:v100+1x1:k80");
  for (Job& job : source.trace.jobs) {
    job.gpus = job.id == "2" ? 2 : 1;
    job.model = "LM";
    job.batch_size = 5;
  }
  source.speeds = std::make_shared<Speeds>(table, source.trace, source.cluster);
}

TEST(Scenario, CongestionIncludesSpeedsAndFaults) {
  for (const bool faults : {false, true}) {
    SCOPED_TRACE(faults);
    TraceOnCluster source = recorded(60);
    if (faults) {
      source.faults.recorded = {{1000 * kUsPerS, 4000 * kUsPerS, 0, FaultKind::kFail, 0b1111}};
    } else {
      add_speeds(source);
    }
    const Scenario scenario = make_scenario(std::move(source), {}, 2, 1);
    const JctSummary all = run_policy(scenario, "greedy", {}).summary.all;
    EXPECT_DOUBLE_EQ(scenario.congestion, all.mean_wait_s / all.mean_run_s);
    EXPECT_DOUBLE_EQ(congestion_of(scenario), scenario.congestion);
  }
}

TEST(Scenario, IsolatedRunTimesUseAllowedAndMeasuredTypes) {
  TraceOnCluster source = recorded(3);
  add_speeds(source);
  source.trace.jobs[1].gpu_types = {"k80"};
  const auto run_us = [&](size_t j) { return source.trace.jobs[j].run_us; };
  const Scenario scenario(source.trace, {.to_us = 1000 * kUsPerS, .scored = 3}, source.cluster, 1,
                          source.speeds);
  EXPECT_EQ(scenario.isolated_us[0], run_us(0));
  EXPECT_EQ(scenario.isolated_us[1], 10 * run_us(1));
  EXPECT_GT(scenario.isolated_us[2], run_us(2)) << "one of each, at the slower rate";
  // The last job waits for the K80 from 200 to 1200 s; the others do not wait.
  EXPECT_DOUBLE_EQ(run_policy(scenario, "fifo", {}).summary.all.mean_wait_s, 1000.0 / 3);
}

TEST(Scenario, DenserArrivalsRaiseCongestionAndLoad) {
  ScenarioOptions options = habits_scenario(600);
  options.congestion = 0.5;
  const Scenario calm = load_scenario(options);
  options.congestion = 4;
  const Scenario busy = load_scenario(options);
  EXPECT_LT(busy.factor, calm.factor);
  EXPECT_GT(busy.load, calm.load);
}

TEST(Scenario, UnreachableCongestionIsRejected) {
  TraceOnCluster source = recorded(3);  // even at the same time all but one fit
  try {
    make_scenario(std::move(source), {}, 100.0, 1);
    FAIL() << "expected InputError";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("--congestion"));
  }
}

TEST(Scenario, JobsOfTheTestSplitDoNotArriveInAnEarlierWindow) {
  WindowOptions window;
  window.from = "40%";
  window.to = "80%";
  const Scenario early = make_scenario(recorded(100), window, std::nullopt, 1);
  EXPECT_FALSE(early.opens_test);
  for (const Job& job : early.trace.jobs) {
    const size_t mark = job.id.find('#');
    EXPECT_LT(std::stoi(job.id.substr(0, mark)), 80) << job.id;
  }
  window.from = "80%";
  window.to = "100%";
  EXPECT_TRUE(make_scenario(recorded(100), window, std::nullopt, 1).opens_test);
  EXPECT_TRUE(make_scenario(recorded(100), {}, std::nullopt, 1).opens_test);
}

TEST(Scenario, WindowOfALogIsFollowedByItsOwnJobs) {
  WindowOptions window;
  window.from = "40%";
  window.to = "80%";
  window.after = ArrivalsAfterWindow::kTraceOnly;
  const Scenario early = make_scenario(recorded(100), window, std::nullopt, 1);
  EXPECT_EQ(early.trace.jobs.size(), 100u) << "with all of the warm-up";
  EXPECT_EQ(early.window.scored, 40);
  EXPECT_EQ(count_copied_jobs(early.trace), 0);
}

TEST(Scenario, GeneratedWorkloadsHaveNoTestSplit) {
  EXPECT_FALSE(load_scenario(habits_scenario(200)).opens_test);
}

TEST(Scenario, ReplicasChangeArrivalsAndKeepJobs) {
  const Scenario scenario = load_scenario(habits_scenario(300));
  const std::vector<Scenario> replicas = replicas_of(scenario, 3, 5);
  const std::vector<Scenario> again = replicas_of(scenario, 3, 5);
  ASSERT_EQ(replicas.size(), 3u);
  std::set<int64_t> first_arrivals;
  for (size_t r = 0; r < replicas.size(); ++r) {
    ASSERT_EQ(replicas[r].trace.jobs.size(), scenario.trace.jobs.size());
    EXPECT_NEAR(replicas[r].load / scenario.load, 1, 0.0401);
    int64_t sum = 0;
    for (size_t j = 0; j < replicas[r].trace.jobs.size(); ++j) {
      EXPECT_EQ(replicas[r].trace.jobs[j].id, again[r].trace.jobs[j].id);
      EXPECT_EQ(replicas[r].trace.jobs[j].submit_us, again[r].trace.jobs[j].submit_us);
      sum += replicas[r].trace.jobs[j].submit_us;
    }
    first_arrivals.insert(sum);
  }
  EXPECT_EQ(first_arrivals.size(), 3u);
}

TEST(Scenario, SingleReplicaIsTheWorkloadItself) {
  const Scenario scenario = load_scenario(habits_scenario(100));
  const std::vector<Scenario> replicas = replicas_of(scenario, 1, 5);
  for (size_t j = 0; j < scenario.trace.jobs.size(); ++j) {
    EXPECT_EQ(replicas[0].trace.jobs[j].submit_us, scenario.trace.jobs[j].submit_us);
  }
}

TEST(Scenario, CostsAreScaled) {
  Scenario free = make_scenario(recorded(10), {}, std::nullopt, 0);
  EXPECT_EQ(free.fixed.costs.save_us, 0);
  EXPECT_EQ(free.fixed.costs.restore_us, 0);
  Scenario costly = make_scenario(recorded(10), {}, std::nullopt, 4);
  EXPECT_EQ(costly.fixed.costs.save_us, 40 * kUsPerS);
  EXPECT_EQ(costly.fixed.costs.restore_large_us, 240 * kUsPerS);
}

TEST(Scenario, MovedScenariosStayValid) {
  Scenario first = make_scenario(recorded(50), {}, std::nullopt, 1);
  const int64_t before = run_policy(first, "fifo", {}).summary.all.sum_jct_us;
  const Scenario second = std::move(first);
  EXPECT_EQ(run_policy(second, "fifo", {}).summary.all.sum_jct_us, before);
}

// In Gavel's table, 0 steps/s marks two models which were not measured together.
TEST(Scenario, IncompatibleJobsAreKeptApart) {
  const std::string table = testing::written("throughputs.json", R"json({"v100": {
  "('LM (batch size 5)', 1)": {"null": 10.0, "('A3C', 1)": [0.0, 0.0], "('LM (batch size 5)', 1)": [6, 6]},
  "('A3C', 1)": {"null": 8.0, "('LM (batch size 5)', 1)": [0.0, 0.0], "('A3C', 1)": [4.0, 4.0]}}})json");
  Trace trace;
  trace.source = "jobs.csv";
  for (const char* model : {"LM", "A3C", "LM", "A3C", "other"}) {
    Job job;
    job.id = std::to_string(trace.jobs.size());
    job.run_us = 100 * kUsPerS;
    job.gpus = 1;
    job.model = model;
    job.batch_size = job.model == "LM" ? 5 : 1;
    job.groups.resize(1);
    job.groups[0].task.gpu_milli = 400;
    trace.jobs.push_back(job);
  }
  ClusterSpec cluster = load_cluster("1x1:v100");
  cluster.types[0].shares = Shares::kMilli;
  const auto speeds = std::make_shared<Speeds>(table, trace, cluster);
  const GpuSharingConflicts pair_conflicts = speeds->incompatible_pairs(trace);
  EXPECT_EQ(pair_conflicts.num_kinds, 2);
  EXPECT_EQ(pair_conflicts.kind, (std::vector<int32_t>{0, 1, 0, 1, kNone}));
  EXPECT_EQ(pair_conflicts.conflicts, (std::vector<uint64_t>{0b10, 0b01}));
  const Scenario scenario(trace, {0, 0, 1000 * kUsPerS, 5}, cluster, 1, speeds);
  const yard::Run run = run_policy(scenario, "greedy", {});
  EXPECT_EQ(run.outcome.jobs[2].start_us, 0) << "the other LM";
  EXPECT_GT(run.outcome.jobs[1].start_us, 0) << "A3C waits for the LMs";
  EXPECT_EQ(run.outcome.jobs[1].start_us, run.outcome.jobs[3].start_us);
}

}  // namespace
}  // namespace yard
