// Rates that depend on models, placements and co-located jobs, and tenants' limits: small worlds by
// hand, with made-up tables.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "env/sim/placement/fits.h"
#include "env/sim/rules/rules.h"
#include "tests/support/random_speeds.h"
#include "tests/support/scene.h"

namespace yard::testing {
namespace {

// One model. On one node, work takes as long as requested. Over several nodes it takes twice as
// long, and half of that is the exchange.
struct MadeUpSpeeds : InventedTables {
  explicit MadeUpSpeeds(size_t jobs) : classes(jobs, 1) {
    const auto cells = static_cast<size_t>((max_gpus + 1) * kSpans);
    steps_per_s.assign(cells, 1.0);
    exchange_share.assign(cells, 0.0);
    for (int32_t gpus = 0; gpus <= max_gpus; ++gpus) {
      for (int32_t span = 2; span < kSpans; ++span) {
        const auto cell = static_cast<size_t>(gpus * kSpans + span);
        steps_per_s[cell] = exchange_share[cell] = 0.5;
      }
    }
    class_kind = {-1, 0};
    class_reference = {1, 1};
    type_speed = {1};
    pair_rate = {0.6};
    gradient_bytes = {1e9};
    counts_worker_steps = server_exchange = {0};
  }

  std::vector<int32_t> classes;
};

ClusterSpec wired(double nic_gbps) {
  ClusterSpec spec = load_cluster("4x2");
  spec.tiers[static_cast<size_t>(Tier::kRack)].bandwidth_gbps = nic_gbps;
  return spec;
}

TEST(Rates, SpreadingCostMatchesTheTable) {
  const MadeUpSpeeds speeds(2);
  Scene scene(wired(0), jobs_of({{0, 2, 100}, {0, 4, 100}}), no_costs());
  scene.set_speeds(speeds.columns(), speeds.classes);
  const auto policy = make_policy("fifo");
  SceneRunner runner(scene, *policy);
  runner.play();
  ASSERT_FALSE(runner.failed());
  EXPECT_EQ(runner.jobs()[0].end_us, 100 * kSecond) << "one node";
  EXPECT_EQ(runner.jobs()[1].end_us, 200 * kSecond) << "two nodes";
  // 2 (n - 1) / n bytes per iteration for each of n = 2 nodes, 100 iterations.
  EXPECT_DOUBLE_EQ(runner.state().head->moved_bytes, 100 * 1e9 * 2);
}

TEST(Rates, JobsThatShareALinkSlowDownAndRecover) {
  const MadeUpSpeeds speeds(2);
  // Each of the two jobs sends 0.5e9 bytes/s over its nodes' links of that capacity: alone neither
  // is slowed.
  ClusterSpec spec = wired(0.5 * 8);
  spec.nodes.resize(2);
  for (Node& node : spec.nodes) node.gpus = 4;
  Scene scene(spec, jobs_of({{0, 2, 100}, {0, 2, 50}}), no_costs());
  scene.set_speeds(speeds.columns(), speeds.classes);
  World world(scene.fixed(), 2);
  world.reset(0, 2);
  ASSERT_TRUE(world.advance(scene.truth()));
  SimState& s = world.state();
  const Piece spread[] = {{0, 1}, {1, 1}};
  start(scene.fixed(), s, 0, spread, 2);
  start(scene.fixed(), s, 1, spread, 2);
  ASSERT_TRUE(world.advance(scene.truth()));
  // At twice the load, an exchange takes twice as long and an iteration 1.5 times. Job 1 has 50 s
  // of work at half speed: 150 s. Job 0 has then done 50 s, and does the rest at half speed.
  EXPECT_EQ(s.phase[1], Phase::kDone);
  EXPECT_NEAR(1e-6 * static_cast<double>(s.head->now_us), 150, 1e-5);
  ASSERT_TRUE(world.advance(scene.truth()));
  EXPECT_NEAR(1e-6 * static_cast<double>(s.head->now_us), 250, 1e-5);
  EXPECT_TRUE(all_done(s));
  EXPECT_EQ(s.link_load[0], 0);
  EXPECT_EQ(s.link_load[1], 0);
  EXPECT_NEAR(s.head->moved_bytes, 150 * 1e9 * 2, 1e3) << "the bytes sent depend only on the work";
}

TEST(Rates, UndoLeavesNoTrace) {
  const MadeUpSpeeds speeds(3);
  Scene scene(wired(8), jobs_of({{0, 4, 100}, {0, 2, 50}, {0, 2, 50}}));
  scene.set_speeds(speeds.columns(), speeds.classes);
  World world(scene.fixed(), 3);
  world.reset(0, 3);
  ASSERT_TRUE(world.advance(scene.truth()));
  SimState& s = world.state();
  const Piece first[] = {{0, 2}, {1, 2}}, second[] = {{2, 1}, {3, 1}};
  start(scene.fixed(), s, 0, first, 2);
  const std::vector<int64_t> load(s.link_load, s.link_load + 4);
  Draft draft(scene.fixed(), s);
  ASSERT_TRUE(draft.start(1, second, 2));
  ASSERT_TRUE(draft.preempt(0));
  draft.undo_to(0);
  EXPECT_EQ(std::vector<int64_t>(s.link_load, s.link_load + 4), load);
  EXPECT_GT(s.traffic[0], 0);
  ASSERT_TRUE(world.advance(scene.truth()));
  EXPECT_EQ(s.phase[0], Phase::kDone);
  EXPECT_EQ(s.head->now_us, 200 * kSecond);
}

TEST(Rates, NeighboursOnOneGpuSlowEachOther) {
  const MadeUpSpeeds speeds(2);
  ClusterSpec spec = load_cluster("1x1");
  spec.types[0].shares = Shares::kMilli;
  std::vector<Job> jobs = jobs_of({{0, 1, 60}, {0, 1, 30}});
  for (Job& job : jobs) {
    RoleGroup group;
    group.task.gpu_milli = 500;
    job.groups = {group};
  }
  Scene scene(spec, jobs, no_costs());
  scene.set_speeds(speeds.columns(), speeds.classes);
  const auto policy = make_policy("fifo");
  SceneRunner runner(scene, *policy);
  runner.play();
  ASSERT_FALSE(runner.failed());
  EXPECT_EQ(runner.jobs()[1].end_us, 50 * kSecond) << "30 s at 0.6";
  EXPECT_EQ(runner.jobs()[0].end_us, 80 * kSecond) << "30 s of work in 50 s, then 30 s alone";
}

TEST(Rates, IncompatibleJobsAreKeptApart) {
  ClusterSpec spec = load_cluster("1x2");
  spec.types[0].shares = Shares::kMilli;
  std::vector<Job> jobs = jobs_of({{0, 1, 60}, {0, 1, 60}, {0, 1, 30}, {0, 1, 10}});
  for (Job& job : jobs) {
    RoleGroup group;
    group.task.gpu_milli = 300;
    job.groups = {group};
  }
  // Kinds 0 and 1 may not share a GPU. Job 3 may share with all.
  const GpuSharingConflicts pair_conflicts{{0, 1, 0, kNone}, {0b10, 0b01}, 2};
  const Scene scene(spec, jobs, no_costs(), pair_conflicts);
  World world(scene.fixed(), 4);
  world.reset(0, 4);
  ASSERT_TRUE(world.advance(scene.truth()));
  SimState& s = world.state();
  const Piece first{0, 0, 0, 1, 0b01}, second{0, 0, 0, 1, 0b10}, any{0, 0, 0, 1, 0};
  const auto may = [&](int32_t slot, const Piece& piece) {
    return legal_start(scene.fixed(), s, slot, &piece, 1);
  };
  start(scene.fixed(), s, 0, &first, 1);
  EXPECT_FALSE(may(1, first));
  EXPECT_TRUE(may(1, any)) << "there is another GPU";
  EXPECT_TRUE(may(2, first)) << "it is of the conflicting kind";
  EXPECT_TRUE(may(3, first));
  start(scene.fixed(), s, 2, &first, 1);
  start(scene.fixed(), s, 3, &second, 1);
  EXPECT_TRUE(may(1, second));
  preempt(scene.fixed(), s, 0);
  EXPECT_FALSE(may(1, first)) << "job 2 is still there";
  preempt(scene.fixed(), s, 2);
  EXPECT_TRUE(may(1, first));
  EXPECT_NE(scene.fixed().jobs.request_class[0], scene.fixed().jobs.request_class[1])
      << "one may be placed where the other cannot";
}

TEST(Rates, OvercommittedServersAreSlow) {
  ClusterSpec spec = load_cluster("1x4");
  spec.nodes[0].cpus = 8;
  spec.nodes[0].cpu_overload = 2;
  std::vector<Job> jobs = jobs_of({{0, 1, 60}, {0, 1, 30}, {0, 1, 30}});
  for (Job& job : jobs) {
    RoleGroup group;
    group.task.gpus = 1;
    group.task.cpu_milli = 8000;
    job.groups = {group};
  }
  const Scene scene(spec, jobs, no_costs());
  ASSERT_TRUE(scene.fixed().rated);
  const auto policy = make_policy("fifo");
  SceneRunner runner(scene, *policy);
  runner.play();
  ASSERT_FALSE(runner.failed());
  EXPECT_EQ(runner.jobs()[1].end_us, 60 * kSecond) << "two of 8 cores on 8: half as fast";
  EXPECT_EQ(runner.jobs()[2].start_us, 60 * kSecond) << "no more than twice its cores";
  EXPECT_EQ(runner.jobs()[0].end_us, 120 * kSecond);
}

ClusterSpec shared_by(int32_t limit_a, bool may_borrow, bool may_lend) {
  ClusterSpec spec = load_cluster("2x4");
  spec.tenants = {{.name = "a", .quota_gpus = 4, .limit_gpus = limit_a, .may_borrow = may_borrow},
                  {.name = "b", .quota_gpus = 4, .may_lend = may_lend}};
  spec.nodes[1].tenant = 1;
  return spec;
}

std::vector<Job> jobs_of_tenants(const std::vector<std::string>& tenants) {
  std::vector<Job> jobs;
  for (size_t j = 0; j < tenants.size(); ++j) {
    jobs.push_back(jobs_of({{0, 2, 100}})[0]);
    jobs.back().id = "job" + std::to_string(j);
    jobs.back().tenant = tenants[j];
  }
  return jobs;
}

TEST(Tenants, JobsBeyondTheirTenantsLimitDoNotFit) {
  const auto fits = [](const ClusterSpec& spec, const std::string& tenant, int32_t gpus) {
    Trace trace;
    trace.jobs = {jobs_of({{0, 1, 100}})[0], jobs_of({{0, gpus, 100}})[0]};
    trace.jobs[1].id = "other";
    trace.jobs[1].tenant = tenant;
    check_jobs_fit_cluster(trace, spec, true);
    return trace.jobs.size() == 2;
  };
  EXPECT_TRUE(fits(shared_by(2, true, true), "a", 2));
  EXPECT_FALSE(fits(shared_by(2, true, true), "a", 3)) << "above its limit";
  EXPECT_FALSE(fits(shared_by(0, false, true), "a", 5)) << "above its quota";
  EXPECT_TRUE(fits(shared_by(0, true, true), "a", 8));
  EXPECT_FALSE(fits(shared_by(0, true, false), "a", 5)) << "node 1 is not lent";
  EXPECT_TRUE(fits(shared_by(0, true, false), "b", 8));
}

class PolicyWithTenants : public ::testing::TestWithParam<std::string> {};

TEST_P(PolicyWithTenants, KeepsTenantsWithinTheirLimit) {
  const Scene scene(shared_by(2, true, true), jobs_of_tenants({"a", "a", "b", "b", "nobody"}));
  const auto policy = make_policy(GetParam());
  SceneRunner runner(scene, *policy);
  ASSERT_TRUE(runner.step());
  EXPECT_EQ(runner.view().gpus_held_by_tenant(0), 2);
  EXPECT_EQ(runner.view().num_holders(), GetParam() == "fifo" ? 1 : 4) << "fifo: all wait for a";
  runner.play();
  EXPECT_FALSE(runner.failed());
}

TEST_P(PolicyWithTenants, KeepsNonBorrowersWithinTheirQuota) {
  const Scene scene(shared_by(0, false, true), jobs_of_tenants({"a", "a", "a", "a"}));
  const auto policy = make_policy(GetParam());
  SceneRunner runner(scene, *policy);
  ASSERT_TRUE(runner.step());
  EXPECT_EQ(runner.view().gpus_held_by_tenant(0), 4);
  runner.play();
  EXPECT_FALSE(runner.failed());
}

TEST_P(PolicyWithTenants, LeavesUnlentNodesToTheirOwners) {
  const Scene scene(shared_by(0, true, false), jobs_of_tenants({"a", "a", "a", "nobody"}));
  const auto policy = make_policy(GetParam());
  SceneRunner runner(scene, *policy);
  while (runner.step()) EXPECT_EQ(runner.state().free_count[1], 4);
  EXPECT_FALSE(runner.failed());
}

INSTANTIATE_TEST_SUITE_P(Policies, PolicyWithTenants,
                         ::testing::Values("fifo", "greedy", "las", "srtf"));

// The nodes have room, but the tenant's limit requires a preemption.
TEST(Tenants, TenantLimitRequiresPreemptionDespiteFreeGpus) {
  for (const std::string placement : {"first-fit", "best-fit", "consolidate"}) {
    ClusterSpec spec = load_cluster("2x2");
    Tenant tenant;
    tenant.name = "red";
    tenant.limit_gpus = 2;
    spec.tenants = {tenant};
    std::vector<Job> jobs = jobs_of({{0, 1, 1000}, {10, 2, 50}});
    for (Job& job : jobs) job.tenant = "red";
    const Scene scene(spec, jobs, no_costs());
    const auto policy = make_policy("srtf placement=" + placement);
    SceneRunner runner(scene, *policy);
    runner.play();
    ASSERT_FALSE(runner.failed());
    EXPECT_EQ(runner.jobs()[1].start_us, 10 * kSecond) << placement;
    EXPECT_EQ(runner.jobs()[0].preemptions, 1) << placement;
  }
}

}  // namespace
}  // namespace yard::testing
