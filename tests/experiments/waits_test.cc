// Why jobs wait: each reason computed by hand, and reasons cover all the time that jobs wait.
#include "experiments/replay/waits.h"

#include <gtest/gtest.h>

#include <map>

#include "experiments/replay/replay.h"
#include "tests/experiments/scenarios.h"
#include "tests/support/random_world.h"
#include "tests/support/scene.h"

namespace yard::testing {
namespace {

// Returns the reasons of all waiting jobs after `events` events, by job id.
std::map<std::string, std::string> reasons(const Scene& scene, const std::string& policy,
                                           int events, PlacementRule placement) {
  const auto scheduler = make_policy(policy);
  SceneRunner runner(scene, *scheduler);
  for (int i = 0; i < events; ++i) runner.step();
  const SimState& s = runner.state();
  WhyWaiting why(scene.fixed(), placement);
  std::map<std::string, std::string> out;
  const auto name = [&](int32_t j) { return scene.jobs()[static_cast<size_t>(j)].id; };
  for (int32_t slot = 0; slot < s.head->high_water; ++slot) {
    const Phase phase = s.phase[slot];
    if (phase != Phase::kWaiting && phase != Phase::kBlocked && phase != Phase::kStopping) continue;
    const WaitReason reason = why.reason(s, slot);
    out[name(s.job[slot])] = std::string(kWaitReasonNames[static_cast<size_t>(reason)]) + ": " +
                             why.detail(s, slot, reason, name);
  }
  return out;
}

TEST(WaitsCsv, AnyIdRoundTrips) {
  std::vector<Job> jobs = jobs_of({{0, 1, 100}});
  jobs[0].id = "a,b";
  const Scenario scenario = scenario_of(jobs, load_cluster("1x4"));
  EXPECT_EQ(wait_row(scenario, "p,q", {0, 0, kSecond, WaitReason::kOrder, "behind \"c\""}),
            "\"p,q\",\"a,b\",0,1," +
                std::string(kWaitReasonNames[static_cast<size_t>(WaitReason::kOrder)]) +
                ",\"behind \"\"c\"\"\",,,\n");
}

using Reasons = std::map<std::string, std::string>;

TEST(WhyWaiting, TooFewGpusAndOrder) {
  // a has 6 of 8 GPUs; b wants 4; c would fit, but fifo starts no job before b.
  const Scene scene("1x8", jobs_of({{0, 6, 100}, {1, 4, 100}, {2, 2, 100}}));
  EXPECT_EQ(
      reasons(scene, "fifo", 3, PlacementRule::kBestFit),
      (Reasons{{"b", "too-few-gpus: needs 4 GPUs; 2 free"}, {"c", "order: needs 2 GPUs; 2 free"}}));
}

TEST(WhyWaiting, FragmentedUnderConsolidation) {
  const Scene scene("2x4", jobs_of({{0, 3, 100}, {0, 3, 100}, {1, 2, 100}}));
  EXPECT_EQ(reasons(scene, "fifo placement=consolidate", 2, PlacementRule::kConsolidate),
            (Reasons{{"c", "fragmented: needs 2 GPUs; 2 free; at most 1 on one node"}}));
}

TEST(WhyWaiting, SavingAndDependencies) {
  std::vector<Job> jobs = jobs_of({{0, 4, 1000}, {10, 4, 5}, {11, 1, 5}});
  jobs[2].after = {"a", "b"};
  const Scene scene("1x4", jobs);
  EXPECT_EQ(reasons(scene, "srtf", 3, PlacementRule::kBestFit),
            (Reasons{{"a", "saving: until 20 s"}, {"c", "dependencies: after a"}}));
}

TEST(WhyWaiting, TenantLimit) {
  ClusterSpec cluster = load_cluster("1x8");
  cluster.tenants = {{.name = "t", .quota_gpus = 2, .limit_gpus = 4}};
  std::vector<Job> jobs = jobs_of({{0, 3, 100}, {1, 2, 100}});
  for (Job& job : jobs) job.tenant = "t";
  const Scene scene(cluster, jobs);
  EXPECT_EQ(reasons(scene, "greedy", 2, PlacementRule::kBestFit),
            (Reasons{{"b", "tenant-limit: needs 2 GPUs; tenant holds 3 of at most 4"}}));
}

// A quota limits nothing by itself: the tenant may hold the whole cluster.
TEST(WhyWaiting, TenantWithoutALimitLacksGpus) {
  ClusterSpec cluster = load_cluster("1x8");
  cluster.tenants = {{.name = "t", .quota_gpus = 2, .limit_gpus = 8}};
  std::vector<Job> jobs = jobs_of({{0, 6, 100}, {1, 4, 100}});
  for (Job& job : jobs) job.tenant = "t";
  const Scene scene(cluster, jobs);
  EXPECT_EQ(reasons(scene, "drf", 2, PlacementRule::kBestFit),
            (Reasons{{"b", "too-few-gpus: needs 4 GPUs; 2 free"}}));
}

TEST(WhyWaiting, GpusDown) {
  Scene scene("2x4", jobs_of({{10, 8, 100}}));
  scene.set_faults({{.at_us = 10 * kSecond,
                     .until_us = 100 * kSecond,
                     .node = 1,
                     .kind = FaultKind::kDrain,
                     .mask = 15}});
  EXPECT_EQ(reasons(scene, "fifo", 1, PlacementRule::kBestFit),
            (Reasons{{"a", "gpus-down: needs 8 GPUs; 4 free; 4 down"}}));
}

// Jobs a, b, ... whose only task is `tasks`; they come in a row, a second apart.
std::vector<Job> tasks_of(const std::vector<RoleGroup>& tasks) {
  std::vector<Job> jobs;
  for (size_t i = 0; i < tasks.size(); ++i) {
    Job job = jobs_of({{static_cast<double>(i), 0, 100}})[0];
    job.id = std::string(1, static_cast<char>('a' + i));
    job.gpus = tasks[i].count * (tasks[i].task.gpus + (tasks[i].task.gpu_milli > 0 ? 1 : 0));
    job.groups = {tasks[i]};
    jobs.push_back(job);
  }
  return jobs;
}

TEST(WhyWaiting, CoresMemoryTypesAndShares) {
  ClusterSpec cluster = load_cluster("1x4:v100+1x2:k80");
  cluster.types[0].shares = cluster.types[1].shares = Shares::kMilli;
  cluster.types[0].mem_gib = cluster.types[1].mem_gib = 16;
  cluster.nodes[0].cpus = cluster.nodes[1].cpus = 8;
  cluster.nodes[0].mem_gib = cluster.nodes[1].mem_gib = 64;
  std::vector<Job> jobs = tasks_of({group_of(1, 3, 0, 1000, 1024),         // on the v100
                                    group_of(1, 1, 0, 6000, 50 * 1024),    // on the k80
                                    group_of(1, 1, 0, 7500, 1024),         // c: cores on neither
                                    group_of(1, 1, 0, 1000, 63.5 * 1024),  // d: memory on neither
                                    group_of(1, 1, 0, 1000, 1024),         // e: another v100
                                    group_of(1, 1, 0, 1000, 1024)});       // f: only on v100
  jobs[0].gpu_types = jobs[4].gpu_types = jobs[5].gpu_types = {"v100"};
  jobs[1].gpu_types = {"k80"};
  const Scene scene(cluster, jobs);
  EXPECT_EQ(reasons(scene, "greedy", 6, PlacementRule::kBestFit),
            (Reasons{{"c", "cpu: needs 1 GPUs; 1 free"},
                     {"d", "memory: needs 1 GPUs; 1 free"},
                     {"f", "gpu-type: needs 1 GPUs; 1 free; 0 of them on eligible nodes"}}));

  // Half of each of two GPUs is free: 0.8 in total, but not on one GPU. If the free halves lack
  // memory, memory is the reason.
  ClusterSpec one = load_cluster("1x2:v100");
  one.types[0].shares = Shares::kMilli;
  one.types[0].mem_gib = 16;
  std::vector<RoleGroup> shares = {group_of(2, 0, 600, 0, 0), group_of(1, 0, 300, 0, 0)};
  shares[0].task.gpu_mem_gib = 12;
  shares[1].task.gpu_mem_gib = 8;
  EXPECT_EQ(reasons(Scene(one, tasks_of(shares)), "greedy", 2, PlacementRule::kBestFit),
            (Reasons{{"b", "gpu-memory: needs 1 GPUs; 0 free"}}));
  shares[1].task = {.gpu_milli = 500};
  EXPECT_EQ(reasons(Scene(one, tasks_of(shares)), "greedy", 2, PlacementRule::kBestFit),
            (Reasons{{"b", "too-few-gpus: needs 1 GPUs; 0 free"}}));
}

TEST(Waits, IntervalsAreContiguousAndAddUp) {
  // a and b leave one GPU of each node free until a ends: c and d need two on one node.
  const std::vector<Job> jobs = jobs_of({{0, 3, 100}, {0, 3, 200}, {0, 2, 60}, {10, 2, 50}});
  const Scenario scenario = scenario_of(jobs, load_cluster("2x4"));
  RunOptions how;
  how.placement = "consolidate";
  std::string rows;
  Waits waits(scenario, PlacementRule::kConsolidate,
              [&](const Wait& wait) { rows += wait_row(scenario, "fifo", wait); });
  how.watch = [&](const SimModel& fixed, const SimState& s) { waits.record_state(fixed, s); };
  const yard::Run run = run_policy(scenario, "fifo", how);
  waits.end(run.outcome.end_us);
  EXPECT_EQ(rows,
            "fifo,c,0,100,fragmented,needs 2 GPUs; 2 free; at most 1 on one node,a;b,,\n"
            "fifo,d,10,100,fragmented,needs 2 GPUs; 2 free; at most 1 on one node,a;b,,\n");
}

// Returns the rows of a run under `policy`; the log starts at 2026-03-01 23:59:00.
std::string rows_of(const std::vector<Job>& jobs, const std::string& cluster,
                    const std::string& policy) {
  Scenario scenario = scenario_of(jobs, load_cluster(cluster));
  scenario.trace.epoch_unix_s = 1'772'409'540;
  std::string rows;
  Waits waits(scenario, PlacementRule::kBestFit,
              [&](const Wait& wait) { rows += wait_row(scenario, policy, wait); });
  RunOptions how;
  how.watch = [&](const SimModel& fixed, const SimState& s) { waits.record_state(fixed, s); };
  const yard::Run run = run_policy(scenario, policy, how);
  waits.end(run.outcome.end_us);
  return rows;
}

TEST(Waits, NameBlockingJobsAndDates) {
  // a has 6 of 8 GPUs, b waits for 4. c and d would fit, but fifo starts neither before b.
  EXPECT_EQ(
      rows_of(jobs_of({{0, 6, 100}, {1, 4, 100}, {2, 2, 100}, {3, 2, 100}}), "1x8", "fifo"),
      "fifo,b,1,100,too-few-gpus,needs 4 GPUs; 2 free,a,"
      "2026-03-01T23:59:01,2026-03-02T00:00:40\n"
      "fifo,c,2,100,order,needs 2 GPUs; 2 free,b,2026-03-01T23:59:02,2026-03-02T00:00:40\n"
      "fifo,d,3,100,order,needs 2 GPUs; 2 free,b;c,2026-03-01T23:59:03,2026-03-02T00:00:40\n");
  // One after another: c waits behind b, too, once b has started.
  EXPECT_EQ(rows_of(jobs_of({{0, 8, 100}, {1, 8, 50}, {2, 8, 10}}), "1x8", "fifo"),
            "fifo,b,1,100,too-few-gpus,needs 8 GPUs; 0 free,a,"
            "2026-03-01T23:59:01,2026-03-02T00:00:40\n"
            "fifo,c,2,150,too-few-gpus,needs 8 GPUs; 0 free,a;b,"
            "2026-03-01T23:59:02,2026-03-02T00:01:30\n");
  std::vector<Job> jobs = jobs_of({{0, 1, 100}, {0, 1, 50}, {10.5, 1, 5}});
  jobs[2].after = {"a", "b"};
  EXPECT_EQ(rows_of(jobs, "1x4", "fifo"),
            "fifo,c,10.5,100,dependencies,after a,a;b,2026-03-01T23:59:10.5,2026-03-02T00:00:40\n");
}

TEST(Waits, NameAtMostEightJobsAndCountTheRest) {
  std::vector<Job> jobs = jobs_of(std::vector<JobLine>(10, {0, 1, 100}));
  const std::vector<Job> last = jobs_of({{1, 10, 5}});
  jobs.push_back(last[0]);
  jobs.back().id = "last";
  const std::string rows = rows_of(jobs, "1x10", "fifo");
  EXPECT_NE(rows.find(",a;b;c;d;e;f;g;h;+2,"), std::string::npos) << rows;
}

TEST(Waits, CoverAllWaitingTime) {
  std::array<int64_t, kWaitReasons> seen{};
  for (const char* policy : {"fifo", "greedy", "las", "srtf"}) {
    for (uint64_t seed = 1; seed <= 6; ++seed) {
      const RandomWorld made = random_world(Rng(seed));
      const Scenario scenario = scenario_of(made);
      // The time during which each job neither starts nor runs, from the states themselves.
      std::vector<int64_t> idle_us(made.jobs.size(), 0), waited_us = idle_us,
                                                         until_us(made.jobs.size(), -1);
      int64_t last_us = -1;
      std::vector<int32_t> idle;
      Waits waits(scenario, PlacementRule::kBestFit, [&](const Wait& wait) {
        ASSERT_LT(wait.from_us, wait.to_us);
        const auto j = static_cast<size_t>(wait.job);
        ASSERT_LE(until_us[j], wait.from_us) << "one reason at a time";
        until_us[j] = wait.to_us;
        waited_us[j] += wait.to_us - wait.from_us;
        EXPECT_EQ(wait.detail.find(','), std::string::npos);
      });
      RunOptions how;
      how.watch = [&](const SimModel& fixed, const SimState& s) {
        waits.record_state(fixed, s);
        for (const int32_t j : idle) idle_us[static_cast<size_t>(j)] += s.head->now_us - last_us;
        last_us = s.head->now_us;
        idle.clear();
        for (int32_t slot = 0; slot < s.head->high_water; ++slot) {
          const Phase phase = s.phase[slot];
          if (phase == Phase::kWaiting || phase == Phase::kBlocked || phase == Phase::kStopping) {
            idle.push_back(s.job[slot]);
          }
        }
      };
      const yard::Run run = run_policy(scenario, policy, how);
      waits.end(run.outcome.end_us);
      EXPECT_EQ(waited_us, idle_us) << policy << " seed " << seed;
      int64_t total_us = 0;
      for (const int64_t us : idle_us) total_us += us;
      for (size_t r = 0; r < seen.size(); ++r) {
        total_us -= waits.totals()[r].time_us;
        seen[r] += waits.totals()[r].intervals;
      }
      EXPECT_EQ(total_us, 0);
    }
  }
  for (const WaitReason reason :
       {WaitReason::kDependencies, WaitReason::kSaving, WaitReason::kTooFewGpus,
        WaitReason::kGpusDown, WaitReason::kCpu, WaitReason::kOrder}) {
    EXPECT_GT(seen[static_cast<size_t>(reason)], 0) << static_cast<int>(reason);
  }
}

}  // namespace
}  // namespace yard::testing
