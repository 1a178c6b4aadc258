// Jobs whose tasks need CPUs, memory, shares of GPUs and certain types, under every policy: the
// player holds each state and each plan to what must always be true.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "env/base/error.h"
#include "env/sim/fits.h"
#include "env/sim/rules.h"
#include "tests/support/scene.h"

namespace yard::testing {
namespace {

ClusterSpec measured_cluster() {
  ClusterSpec spec = load_cluster("2x4:v100+2x8:a100+1x2:t4");
  for (Node& node : spec.nodes) {
    node.cpus = 4 * node.gpus;
    node.mem_gib = 16.0 * node.gpus;
  }
  spec.types[0].mem_gib = 16;
  spec.types[1].mem_gib = 40;
  spec.types[2].mem_gib = 16;
  spec.types[2].speed = 0.5;
  return spec;
}

RoleGroup group_of(int32_t count, int32_t gpus, int32_t gpu_milli, int32_t cpu_milli,
                   int64_t mem_mib) {
  RoleGroup group;
  group.count = count;
  group.task = {gpus, gpu_milli, gpu_milli > 0 ? 4.0 : 0.0, cpu_milli, mem_mib, 0};
  return group;
}

int32_t gpus_of(const std::vector<RoleGroup>& groups) {
  int32_t milli = 0;
  for (const RoleGroup& g : groups) milli += g.count * (kWholeGpu * g.task.gpus + g.task.gpu_milli);
  return (milli + kWholeGpu - 1) / kWholeGpu;
}

std::vector<Job> shaped_jobs(Rng rng, int32_t count) {
  std::vector<Job> jobs = random_jobs(rng.split(1), {.count = count, .mean_gap_s = 60});
  for (Job& job : jobs) {
    switch (rng.below(6)) {
      case 0:  // plain
        break;
      case 1:  // plain, of certain types
        job.gpu_types = {rng.below(2) == 0 ? "v100" : "a100"};
        break;
      case 2:  // a share
        job.groups = {group_of(1, 0, static_cast<int32_t>(100 + 50 * rng.below(17)), 500, 1024)};
        break;
      case 3:  // several shares
        job.groups = {group_of(static_cast<int32_t>(1 + rng.below(4)), 0, 300, 1000, 512)};
        break;
      case 4:  // workers of two GPUs beside servers without any
        job.groups = {group_of(static_cast<int32_t>(1 + rng.below(3)), 2, 0, 4000, 8192),
                      group_of(static_cast<int32_t>(1 + rng.below(2)), 0, 0, 2000, 4096)};
        job.groups[1].role = "ps";
        break;
      default:  // CPUs alone
        job.groups = {group_of(static_cast<int32_t>(1 + rng.below(3)), 0, 0, 6000, 2048)};
    }
    if (!job.groups.empty()) job.gpus = gpus_of(job.groups);
  }
  return jobs;
}

class Shapes : public ::testing::TestWithParam<std::string> {};

TEST_P(Shapes, AreHeldWholeAndGivenBackUnderEveryPolicy) {
  const auto policy = make_policy(GetParam());
  std::set<int32_t> most_on_one_gpu;
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    const Scene scene(measured_cluster(), shaped_jobs(Rng(seed), 60));
    Player player(scene, *policy);
    player.play();
    ASSERT_FALSE(player.failed()) << "seed " << seed;
    const ClusterState& s = player.state();
    EXPECT_EQ(s.head->free_gpus, scene.fixed().spec.total_gpus);
    for (int32_t m = 0; m < scene.fixed().spec.num_nodes; ++m) {
      EXPECT_EQ(s.free_cpu_milli[m], scene.fixed().spec.node_cpu_milli[m]);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(EveryPolicy, Shapes, ::testing::ValuesIn(PolicyRegistry::names()),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

Job share_of(const std::string& id, int32_t milli, double run_s) {
  Job job = jobs_of({{0, 1, run_s}})[0];
  job.id = id;
  job.groups = {group_of(1, 0, milli, 0, 0)};
  return job;
}

TEST(Shares, GoToTheFullestGpuThatStillFits) {
  const Scene scene("1x2", {share_of("a", 600, 100), share_of("b", 500, 100),
                            share_of("c", 400, 100), share_of("d", 500, 100)});
  const auto policy = make_policy("fifo");
  Player player(scene, *policy);
  ASSERT_TRUE(player.step());
  const ClusterState& s = player.state();
  EXPECT_EQ(s.head->held, 4);
  EXPECT_EQ(s.share_milli[0], 0) << "600 + 400";
  EXPECT_EQ(s.share_milli[1], 0) << "500 + 500";
  EXPECT_EQ(s.head->free_gpus, 0);
  player.play();
  EXPECT_FALSE(player.failed());
  EXPECT_EQ(s.head->free_gpus, 2);
}

TEST(Shares, CanBePutOnANamedGpu) {
  const Scene scene("1x4", {share_of("a", 500, 100), share_of("b", 500, 100)});
  World world(scene.fixed(), 2);
  world.reset(0, 2);
  ASSERT_TRUE(world.advance(scene.truth()));
  ClusterState& s = world.state();
  Piece piece{0, 0, 0, 1, uint64_t{1} << 2};
  ASSERT_TRUE(legal_start(scene.fixed(), s, 0, &piece, 1));
  start(scene.fixed(), s, 0, &piece, 1);
  EXPECT_EQ(s.share_milli[2], 500);
  piece.mask = uint64_t{1} << 3;
  ASSERT_TRUE(legal_start(scene.fixed(), s, 1, &piece, 1)) << "although another GPU is fuller";
  piece.mask = uint64_t{3} << 2;
  EXPECT_FALSE(legal_start(scene.fixed(), s, 1, &piece, 1)) << "one task, two GPUs";
}

TEST(Fits, SaysWhichRequestsNoNodeHolds) {
  Trace trace;
  trace.source = "jobs.csv";
  trace.jobs = jobs_of({{0, 1, 10}, {0, 1, 10}, {0, 1, 10}, {0, 1, 10}, {0, 0, 10}});
  trace.jobs[1].gpu_types = {"h100"};
  trace.jobs[2].groups = {group_of(1, 1, 0, 1000 * 100, 0)};  // 100 cores a task
  trace.jobs[3].groups = {group_of(1, 1, 0, 8000, 0)};
  ClusterSpec spec = measured_cluster();
  EXPECT_THROW(check_fits(trace, spec, false), InputError);
  check_fits(trace, spec, true);
  ASSERT_EQ(trace.jobs.size(), 2u);
  EXPECT_EQ(trace.jobs[1].id, "d");
  std::set<std::string> reasons;
  for (const Skipped& skipped : trace.skipped) reasons.insert(skipped.reason);
  EXPECT_EQ(reasons, (std::set<std::string>{"GPU types that the cluster lacks",
                                            "no place on the empty cluster", "asks for nothing"}));
}

}  // namespace
}  // namespace yard::testing
