// Features of jobs, nodes and tenants in a snapshot.
#include "serving/snapshot/features.h"

#include <gtest/gtest.h>

#include "env/sim/rules/digest.h"
#include "serving/snapshot/cluster_memory.h"
#include "serving/snapshot/export.h"
#include "serving/snapshot/snapshot.h"
#include "tests/support/scene.h"

namespace yard::testing {
namespace {

// What a manager says of jobs, nodes and tenants reaches the tables as a simulation has them.
TEST(Features, ReachTheTables) {
  ClusterSpec spec = load_cluster("2x8:v100+2x4:k80");
  spec.tenants = {{.name = "lab", .quota_gpus = 8, .weight = 2, .priority = 1, .may_lend = false},
                  {.name = "all", .limit_gpus = 12, .may_preempt = Preempts::kBorrowers}};
  for (Node& node : spec.nodes) {
    node.cpus = 32;
    node.mem_gib = 256;
    node.rack = &node - spec.nodes.data() < 2 ? 3 : 4;
  }
  spec.nodes[3].tenant = 0;
  std::vector<Job> jobs = jobs_of({{0, 2, 100}, {0, 2, 100}, {10, 4, 100}, {20, 1, 100}});
  jobs[0].groups.resize(2);
  jobs[0].groups[0].count = 2;
  jobs[0].groups[0].task = {.gpus = 1, .cpu_milli = 4000};
  jobs[0].groups[1].role = "ps";
  jobs[0].groups[1].task = {.cpu_milli = 8000, .mem_mib = 4096};
  jobs[1].gpu_types = {"k80"};
  jobs[1].tenant = "lab";
  RoleGroup& elastic = jobs[2].groups.emplace_back();
  elastic.count = 4;
  elastic.min_count = 2;
  elastic.max_count = 8;
  elastic.task = {.gpus = 1};
  jobs[2].model = "ResNet-50";
  jobs[2].batch_size = 64;
  jobs[2].tenant = "all";
  jobs[3].after = {jobs[0].id};
  jobs[3].priority = -3;
  jobs[3].weight = 2.5;
  jobs[3].dues = {{500 * kSecond, 3}, {900 * kSecond, 1}};
  const Scene scene(spec, jobs);
  const auto policy = make_policy("greedy");
  SceneRunner runner(scene, *policy);
  int events = 0;
  while (runner.step()) {
    ++events;
    const pb::DecideRequest request =
        to_request(spec, scene.jobs(), scene.fixed(), runner.state(), {});
    const Snapshot snapshot(request);
    ASSERT_EQ(snapshot.quarantine().count(), 0) << snapshot.quarantine().listed()[0].why();
    ClusterMemory known;
    const SnapshotState live = known.next_state(snapshot);
    ASSERT_EQ(broken_invariant(live.fixed(), live.state()), "");
    const View served(live.fixed(), live.state(), InformationLevel::kBlind);
    const View& own = runner.view();
    ASSERT_EQ(served.num_blocked_by_dependencies(), own.num_blocked_by_dependencies());
    ASSERT_EQ(served.num_holders(), own.num_holders());
    ASSERT_EQ(served.num_tenants(), 2);
    for (int32_t t = 0; t < 2; ++t) {
      EXPECT_EQ(served.gpus_held_by_tenant(t), own.gpus_held_by_tenant(t));
      EXPECT_EQ(served.tenant_quota_gpus(t), own.tenant_quota_gpus(t));
      EXPECT_EQ(served.tenant_weight(t), own.tenant_weight(t));
      EXPECT_EQ(served.tenant_priority(t), own.tenant_priority(t));
      EXPECT_EQ(served.jobs_tenant_may_preempt(t), own.jobs_tenant_may_preempt(t));
      EXPECT_EQ(served.spec().tenant_limit[t], own.spec().tenant_limit[t]);
    }
    for (int32_t m = 0; m < 4; ++m) {
      EXPECT_EQ(served.spec().node_owner[m], own.spec().node_owner[m]);
      EXPECT_EQ(served.spec().node_rack[m], own.spec().node_rack[m]);
      if (live.fixed().jobs.shapes.num_shapes == 0) continue;  // then no state has these columns
      EXPECT_EQ(live.state().free_cpu_milli[m], runner.state().free_cpu_milli[m]);
      EXPECT_EQ(live.state().free_mem_mib[m], runner.state().free_mem_mib[m]);
    }
    for (int32_t slot = 0; slot < served.slot_high_water(); ++slot) {
      const int32_t entry = live.request_index(slot);
      if (entry == kNone) continue;
      int32_t twin = 0;
      while (scene.jobs()[static_cast<size_t>(own.serial(twin))].id != request.jobs(entry).id() ||
             own.phase(twin) == Phase::kFree) {
        ++twin;
      }
      EXPECT_EQ(served.phase(slot), own.phase(twin));
      EXPECT_EQ(served.shaped(slot), own.shaped(twin));
      EXPECT_EQ(served.allowed_type_bits(slot) & 3, own.allowed_type_bits(twin) & 3);
      EXPECT_EQ(served.priority(slot), own.priority(twin));
      EXPECT_EQ(served.weight(slot), own.weight(twin));
      EXPECT_EQ(served.first_deadline_us(slot), own.first_deadline_us(twin));
      EXPECT_EQ(served.tenant(slot), own.tenant(twin));
      EXPECT_EQ(served.work_done_in_whole_us(slot), own.work_done_in_whole_us(twin));
    }
  }
  EXPECT_GE(events, 6);
}

}  // namespace
}  // namespace yard::testing
