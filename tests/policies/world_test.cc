// Worlds with every feature under every policy: the runner checks the invariants of each state and
// plan. Then each feature by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "env/base/core/error.h"
#include "env/sim/placement/fits.h"
#include "env/sim/rules/faults.h"
#include "env/sim/rules/rules.h"
#include "tests/support/random_world.h"
#include "tests/support/scene.h"

namespace yard::testing {
namespace {

class EveryFeature : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryFeature, KeepsInvariantsUnderEveryPolicy) {
  const auto policy = make_policy(GetParam());
  int32_t failures = 0, blocked = 0;
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    const RandomWorld world = random_world(Rng(seed));
    Scene scene(world.cluster, world.jobs, {}, world.pair_conflicts);
    scene.set_faults(world.faults);
    SceneRunner runner(scene, *policy);
    while (runner.step()) blocked = std::max(blocked, runner.view().num_blocked_by_dependencies());
    ASSERT_FALSE(runner.failed()) << "seed " << seed;
    const SimState& s = runner.state();
    failures += s.head->failures;
    EXPECT_EQ(s.head->free_gpus + s.head->down_gpus, scene.fixed().spec.total_gpus);
    for (int32_t m = 0; m < scene.fixed().spec.num_nodes; ++m) {
      EXPECT_EQ(s.free_cpu_milli[m], scene.fixed().spec.node_cpu_milli[m]);
    }
  }
  EXPECT_GT(failures, 0);
  EXPECT_GT(blocked, 0);
}

INSTANTIATE_TEST_SUITE_P(EveryPolicy, EveryFeature, ::testing::ValuesIn(PolicyRegistry::names()),
                         test_name);

ClusterSpec parted(const std::string& text) {
  ClusterSpec spec = load_cluster(text);
  for (GpuType& type : spec.types) type.shares = Shares::kMilli;
  return spec;
}

Job share_of(const std::string& id, int32_t milli, double run_s) {
  Job job = jobs_of({{0, 1, run_s}})[0];
  job.id = id;
  job.groups = {group_of(1, 0, milli, 0, 0)};
  return job;
}

TEST(Shares, UseTheFullestGpuThatFits) {
  const Scene scene(parted("1x2"), {share_of("a", 600, 100), share_of("b", 500, 100),
                                    share_of("c", 400, 100), share_of("d", 500, 100)});
  const auto policy = make_policy("fifo");
  SceneRunner runner(scene, *policy);
  ASSERT_TRUE(runner.step());
  const SimState& s = runner.state();
  EXPECT_EQ(s.head->held, 4);
  EXPECT_EQ(s.share_milli[0], 0) << "600 + 400";
  EXPECT_EQ(s.share_milli[1], 0) << "500 + 500";
  EXPECT_EQ(s.head->free_gpus, 0);
  runner.play();
  EXPECT_FALSE(runner.failed());
  EXPECT_EQ(s.head->free_gpus, 2);
}

TEST(Shares, OneThousandthUsesTheRemainder) {
  const Scene scene(parted("1x1"), {share_of("a", 999, 100), share_of("b", 1, 100)});
  const auto policy = make_policy("fifo");
  SceneRunner runner(scene, *policy);
  ASSERT_TRUE(runner.step());
  EXPECT_EQ(runner.state().head->held, 2);
}

TEST(Shares, UseAWholeGpuIfTheTypeHasNoShares) {
  const Scene scene("1x2",
                    {share_of("a", 300, 100), share_of("b", 300, 100), share_of("c", 300, 100)});
  const auto policy = make_policy("fifo");
  SceneRunner runner(scene, *policy);
  ASSERT_TRUE(runner.step());
  EXPECT_EQ(runner.state().head->held, 2);
  runner.play();
  EXPECT_FALSE(runner.failed());
  EXPECT_EQ(runner.jobs()[2].start_us, 100 * kSecond);
}

TEST(Shares, CanBePlacedOnANamedGpu) {
  const Scene scene(parted("1x4"), {share_of("a", 500, 100), share_of("b", 500, 100)});
  World world(scene.fixed(), 2);
  world.reset(0, 2);
  ASSERT_TRUE(world.advance(scene.truth()));
  SimState& s = world.state();
  Piece piece{0, 0, 0, 1, uint64_t{1} << 2};
  ASSERT_TRUE(legal_start(scene.fixed(), s, 0, &piece, 1));
  start(scene.fixed(), s, 0, &piece, 1);
  EXPECT_EQ(s.share_milli[2], 500);
  piece.mask = uint64_t{1} << 3;
  ASSERT_TRUE(legal_start(scene.fixed(), s, 1, &piece, 1)) << "although another GPU is fuller";
  piece.mask = uint64_t{3} << 2;
  EXPECT_FALSE(legal_start(scene.fixed(), s, 1, &piece, 1)) << "one task, two GPUs";
}

std::vector<Fault> fault(FaultKind kind, double at_s, double until_s, int32_t node, uint64_t mask) {
  const auto us = [](double s) { return static_cast<int64_t>(s * 1e6); };
  return {{us(at_s), us(until_s), node, kind, mask}};
}

struct FaultCase {
  std::string name;
  FaultKind kind;
  double at_s;
  double end_s;  // of the only job: 4 GPUs, 5000 s
  int32_t failures, preemptions;
  double notice_s = 0;
};

class Faults : public ::testing::TestWithParam<FaultCase> {};

TEST_P(Faults, OnTheOnlyNode) {
  const FaultCase& c = GetParam();
  Scene scene("1x4", jobs_of({{0, 4, 5000}}));
  std::vector<Fault> faults = fault(c.kind, c.at_s, c.at_s + 1000, 0, 0b0010);
  set_reclaim_notice(faults, std::llround(c.notice_s * 1e6));
  scene.set_faults(faults);
  const auto policy = make_policy("fifo");
  SceneRunner runner(scene, *policy);
  runner.play();
  ASSERT_FALSE(runner.failed());
  EXPECT_EQ(runner.jobs()[0].end_us, std::llround(c.end_s * 1e6));
  EXPECT_FALSE(runner.world().advance(scene.truth())) << "later faults affect no job";
  EXPECT_EQ(runner.state().head->now_us, runner.jobs()[0].end_us);
  EXPECT_EQ(runner.state().head->failures, c.failures);
  EXPECT_EQ(runner.state().head->preemptions, c.preemptions);
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, Faults,
    ::testing::ValuesIn(std::vector<FaultCase>{
        // Nothing was saved before the first checkpoint at 1800 s: it restarts from zero at 2000 s.
        {"FailEarly", FaultKind::kFail, 1000, 2000 + 5000, 1, 0},
        // Two checkpoints keep 3600 of 4000 s. Then 1000 s down, 30 s to restore.
        {"FailLate", FaultKind::kFail, 4000, 5000 + 30 + 1400, 1, 0},
        // Saved at 1000 s, back at 2000 s, 30 s to restore.
        {"Reclaim", FaultKind::kReclaim, 1000, 2000 + 30 + 4000, 0, 1, 120},
        {"ReclaimJustInTime", FaultKind::kReclaim, 1000, 2000 + 30 + 4000, 0, 1, 10},
        // A save takes 10 s, so none is made. It works until 4009 s; checkpoints hold 3600 s.
        {"ReclaimAtShortNotice", FaultKind::kReclaim, 4000, 5000 + 30 + 1400, 1, 0, 9},
        {"ReclaimWithoutNotice", FaultKind::kReclaim, 1000, 2000 + 5000, 1, 0},
        {"Drain", FaultKind::kDrain, 1000, 5000, 0, 0},
        {"FailAfterTheEnd", FaultKind::kFail, 6000, 5000, 0, 0},
    }),
    [](const auto& info) { return info.param.name; });

TEST(Faults, DrainedGpuIsNotReusedUntilItsRepair) {
  Scene scene("1x2", jobs_of({{0, 1, 100}, {0, 1, 300}, {150, 1, 50}, {150, 1, 50}}));
  scene.set_faults(fault(FaultKind::kDrain, 50, 500, 0, 0b01));
  const auto policy = make_policy("greedy");
  SceneRunner runner(scene, *policy);
  runner.play();
  ASSERT_FALSE(runner.failed());
  EXPECT_EQ(runner.jobs()[0].end_us, 100 * kSecond) << "it continues";
  EXPECT_EQ(runner.jobs()[2].start_us, 300 * kSecond) << "on the other GPU";
  EXPECT_EQ(runner.jobs()[3].start_us, 350 * kSecond);
  EXPECT_EQ(runner.state().head->down_time_us, 300 * kSecond) << "from 100 s to the end at 400 s";
}

TEST(Faults, LostWorkIsCounted) {
  Scene scene("1x4", jobs_of({{0, 4, 5000}}));
  scene.set_faults(fault(FaultKind::kFail, 4000, 4500, 0, 0b1000));
  const auto policy = make_policy("fifo");
  SceneRunner runner(scene, *policy);
  runner.play();
  EXPECT_EQ(runner.state().head->lost_time_us, 4 * 400 * kSecond);
}

// --- Dependencies between jobs

TEST(Dependencies, ChainTakesAsLongAsItsJobs) {
  std::vector<Job> jobs;
  for (int i = 0; i < 300; ++i) {
    jobs.push_back(jobs_of({{0, 1, 10}})[0]);
    jobs.back().id = std::to_string(i);
    if (i > 0) jobs.back().after = {std::to_string(i - 1)};
  }
  const Scene scene("1x8", jobs);
  const auto policy = make_policy("greedy");
  SceneRunner runner(scene, *policy);
  runner.play();
  ASSERT_FALSE(runner.failed());
  for (size_t j = 0; j < jobs.size(); ++j) {
    ASSERT_EQ(runner.jobs()[j].start_us, static_cast<int64_t>(j) * 10 * kSecond);
  }
}

// --- Nodes that fail as a whole

Job on_cpus(const std::string& id, double run_s) {
  Job job = jobs_of({{0, 0, run_s}})[0];
  job.id = id;
  job.groups = {group_of(1, 0, 0, 1000, 0)};
  return job;
}

ClusterSpec with_cpu_node() {
  ClusterSpec spec = load_cluster("1x2");
  Node cpu;
  cpu.cpus = 1;
  spec.nodes.push_back(cpu);
  spec.nodes[0].cpus = 1;
  return spec;
}

TEST(Faults, CpuNodeFaultStopsOnlyItsTasks) {
  Scene scene(with_cpu_node(), {on_cpus("a", 5000), on_cpus("b", 500), on_cpus("c", 100)});
  scene.set_faults(fault(FaultKind::kFail, 100, 3000, 1, 0));
  const auto policy = make_policy("fifo");
  SceneRunner runner(scene, *policy);
  runner.play();
  ASSERT_FALSE(runner.failed());
  EXPECT_EQ(runner.state().head->failures, 1);
  EXPECT_EQ(runner.jobs()[2].start_us, 3000 * kSecond) << "when the node is back";
  EXPECT_EQ(runner.jobs()[1].end_us, (3100 + 500) * kSecond) << "again, behind earlier jobs";
}

TEST(Faults, NodeFaultStopsTasksWithoutGpus) {
  ClusterSpec spec = load_cluster("1x2");
  spec.nodes[0].cpus = 1;
  Scene scene(spec, {on_cpus("a", 500), on_cpus("b", 100)});
  scene.set_faults(fault(FaultKind::kFail, 100, 3000, 0, 0b11));
  const auto policy = make_policy("fifo");
  SceneRunner runner(scene, *policy);
  runner.play();
  ASSERT_FALSE(runner.failed());
  EXPECT_EQ(runner.state().head->failures, 1);
  EXPECT_EQ(runner.jobs()[1].start_us, 3000 * kSecond) << "not before the node is back";
  EXPECT_EQ(runner.jobs()[0].end_us, 3600 * kSecond);
}

TEST(Faults, GpuFaultKeepsTasksWithoutGpus) {
  ClusterSpec spec = load_cluster("1x2");
  spec.nodes[0].cpus = 1;
  Scene scene(spec, {on_cpus("a", 500), on_cpus("b", 100)});
  scene.set_faults(fault(FaultKind::kFail, 100, 3000, 0, 0b01));
  const auto policy = make_policy("fifo");
  SceneRunner runner(scene, *policy);
  runner.play();
  EXPECT_EQ(runner.state().head->failures, 0);
  EXPECT_EQ(runner.jobs()[1].end_us, 600 * kSecond);
}

TEST(Faults, DrainedNodeKeepsItsTasksAndAcceptsNoOthers) {
  Scene scene(with_cpu_node(), {on_cpus("a", 1000), on_cpus("b", 500), on_cpus("c", 100)});
  scene.set_faults(fault(FaultKind::kDrain, 100, 3000, 1, 0));
  const auto policy = make_policy("fifo");
  SceneRunner runner(scene, *policy);
  runner.play();
  ASSERT_FALSE(runner.failed());
  EXPECT_EQ(runner.jobs()[1].end_us, 500 * kSecond);
  EXPECT_EQ(runner.jobs()[2].start_us, 1000 * kSecond) << "on the other node";
  EXPECT_EQ(runner.state().head->failures, 0);
}

// --- Speeds of models

TEST(Speeds, ModelRunsAtItsSpeedOnTheType) {
  ClusterSpec spec = load_cluster("1x2:v100+1x2:k80");
  spec.types[1].speed = 0.5;
  spec.types[1].speed_of_model["ResNet-18"] = 0.25;
  std::vector<Job> jobs = jobs_of({{0, 1, 100}, {0, 1, 100}, {0, 3, 100}});
  jobs[0].model = jobs[2].model = "ResNet-18";
  jobs[1].model = "VGG";
  for (size_t j = 0; j < 2; ++j) jobs[j].gpu_types = {"k80"};
  const Scene scene(spec, jobs);
  const auto policy = make_policy("fifo");
  SceneRunner runner(scene, *policy);
  runner.play();
  ASSERT_FALSE(runner.failed());
  EXPECT_EQ(runner.jobs()[0].end_us, 400 * kSecond);
  EXPECT_EQ(runner.jobs()[1].end_us, 200 * kSecond) << "as fast as the type";
  EXPECT_EQ(runner.jobs()[2].end_us - runner.jobs()[2].start_us, 400 * kSecond)
      << "a gang runs at the speed of its slowest GPU";
}

// --- Elastic jobs

TEST(Elastic, PlacementIncludesAsManyTasksAsFit) {
  std::vector<Job> jobs = jobs_of({{0, 5, 100}, {0, 4, 300}, {0, 8, 100}});
  jobs[1].groups = {group_of(4, 1, 0, 0, 0)};
  jobs[1].groups[0].min_count = 2;
  jobs[1].groups[0].max_count = 6;
  jobs[2].groups = {group_of(8, 1, 0, 0, 0)};
  jobs[2].groups[0].min_count = 4;
  jobs[2].groups[0].max_count = 8;
  const Scene scene("2x4", jobs);
  const auto ends_s = [&](const std::string& placement) {
    const auto policy = make_policy("greedy placement=" + placement);
    SceneRunner runner(scene, *policy);
    runner.advance();
    EXPECT_EQ(runner.view().num_groups(1), 1);
    EXPECT_EQ(runner.view().min_tasks(1, 0), 2);
    EXPECT_EQ(runner.view().max_tasks(1, 0), 6);
    runner.decide();
    runner.play();
    EXPECT_FALSE(runner.failed());
    std::vector<int64_t> out;
    for (const JobOutcome& job : runner.jobs()) out.push_back(job.end_us / kSecond);
    return out;
  };
  EXPECT_EQ(ends_s("best-fit"), (std::vector<int64_t>{100, 400, 500}));
  // Three of four tasks start at once. At 100, five GPUs come free, and five of eight tasks start.
  EXPECT_EQ(ends_s("elastic"), (std::vector<int64_t>{100, 400, 260}));
}

TEST(After, JobWaitsForItsDependencies) {
  std::vector<Job> jobs = jobs_of({{0, 1, 100}, {0, 1, 200}, {10, 1, 50}, {20, 1, 50}});
  jobs[2].after = {"a", "b"};
  jobs[3].after = {"c", "gone"};  // missing jobs count as ended
  const Scene scene("1x4", jobs);
  const auto policy = make_policy("fifo");
  SceneRunner runner(scene, *policy);
  runner.play();
  ASSERT_FALSE(runner.failed());
  EXPECT_EQ(runner.jobs()[2].start_us, 200 * kSecond);
  EXPECT_EQ(runner.jobs()[3].start_us, 250 * kSecond);
}

TEST(Fits, RefusesMoreWorkThanTheClockHolds) {
  Trace trace;
  trace.source = "jobs.csv";
  trace.jobs = jobs_of(std::vector<JobLine>(1001, {0, 1, 4e9}));
  EXPECT_THROW(check_jobs_fit_cluster(trace, load_cluster("1x1"), false), InputError);
}

TEST(Fits, NamesRequestsThatFitNoNode) {
  Trace trace;
  trace.source = "jobs.csv";
  trace.jobs = jobs_of({{0, 1, 10}, {0, 1, 10}, {0, 1, 10}, {0, 1, 10}, {0, 0, 10}});
  trace.jobs[1].gpu_types = {"h100"};
  trace.jobs[2].groups = {group_of(1, 1, 0, 1000 * 100, 0)};  // 100 cores a task
  trace.jobs[3].groups = {group_of(1, 1, 0, 8000, 0)};
  ClusterSpec spec = load_cluster("2x4");
  for (Node& node : spec.nodes) node.cpus = 16;
  EXPECT_THROW(check_jobs_fit_cluster(trace, spec, false), InputError);
  check_jobs_fit_cluster(trace, spec, true);
  ASSERT_EQ(trace.jobs.size(), 2u);
  EXPECT_EQ(trace.jobs[1].id, "d");
  std::set<std::string> reasons;
  for (const CountedRows& skipped : trace.skipped) reasons.insert(skipped.reason);
  EXPECT_EQ(reasons,
            (std::set<std::string>{"GPU types that the cluster lacks",
                                   "no placement on the empty cluster", "requests nothing"}));
}

}  // namespace
}  // namespace yard::testing
