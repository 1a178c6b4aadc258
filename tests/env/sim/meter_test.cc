// The use of GPU time: by hand, and that no GPU time is lost or counted twice.
#include "env/sim/metrics/meter.h"

#include <gtest/gtest.h>

#include "tests/support/random_world.h"
#include "tests/support/scene.h"

namespace yard::testing {
namespace {

// Plays to the end and returns the measured use.
GpuUsage metered(const Scene& scene, const std::string& policy) {
  const auto scheduler = make_policy(policy);
  SceneRunner runner(scene, *scheduler);
  UsageMeter meter(scene.cluster(), scene.trace());
  while (runner.step()) meter.record_state(scene.fixed(), runner.state());
  EXPECT_FALSE(runner.failed());
  return *meter.end(runner.state().head->now_us);
}

TEST(UsageMeter, CountsSavingAndRestoringByHand) {
  ClusterSpec cluster = load_cluster("1x2:v100");
  cluster.types[0].busy_w = 300;
  cluster.types[0].idle_w = 50;
  cluster.types[0].price_per_h = 3.6;
  std::vector<Job> jobs = jobs_of({{0, 2, 1000}, {100, 2, 50}});
  jobs[0].tenant = "slow";
  jobs[1].tenant = "fast";
  PreemptionCosts costs;  // 10 s of saving, 30 s of restoring
  const Scene scene(cluster, jobs, costs);
  // srtf: b preempts a at 100 s; a saves to 110, b runs to 160, a restores to 190 and ends at 1090.
  const GpuUsage used = metered(scene, "srtf");
  EXPECT_DOUBLE_EQ(used.span_s, 1090);
  EXPECT_DOUBLE_EQ(used.time.running, 2 * (100 + 50 + 900));
  // While a saves, b already holds its GPUs and waits for them.
  EXPECT_DOUBLE_EQ(used.time.starting, 2 * (10 + 30));
  EXPECT_DOUBLE_EQ(used.time.saving, 0);
  EXPECT_DOUBLE_EQ(used.time.idle, 0);
  ASSERT_EQ(used.tenants, (std::vector<std::string>{"fast", "slow"}));
  EXPECT_DOUBLE_EQ(used.tenant_gpu_s[0], 2 * 60);
  EXPECT_DOUBLE_EQ(used.tenant_gpu_s[1], 2 * (100 + 930));
  EXPECT_DOUBLE_EQ(*energy_kwh(cluster, used), 2 * 1090 * 300 / 3.6e6);
  EXPECT_DOUBLE_EQ(cost_of(cluster, used)->held, 2 * 1090 * 0.001);
  EXPECT_DOUBLE_EQ(cost_of(cluster, used)->all, 2 * 1090 * 0.001);
}

TEST(UsageMeter, ReclaimedGpusAreDownAfterTheSave) {
  ClusterSpec cluster = load_cluster("1x2:v100+1x2:k80");
  std::vector<Job> jobs = jobs_of({{0, 2, 100}});
  Scene scene(cluster, jobs);
  // Reclaimed at 40 s for 60 s: the job saves to 50 s, restores elsewhere to 80 s, ends at 140 s.
  scene.set_faults({{.at_us = 40 * kSecond,
                     .until_us = 100 * kSecond,
                     .node = 0,
                     .kind = FaultKind::kReclaim,
                     .mask = 3,
                     .notice_us = 10 * kSecond}});
  const GpuUsage used = metered(scene, "fifo");
  EXPECT_DOUBLE_EQ(used.span_s, 140);
  EXPECT_DOUBLE_EQ(used.time.running, 2 * 100);
  EXPECT_DOUBLE_EQ(used.time.starting, 2 * 30);
  EXPECT_DOUBLE_EQ(used.time.saving, 2 * 10);
  EXPECT_DOUBLE_EQ(used.time.down, 2 * 50);
  EXPECT_DOUBLE_EQ(used.time.idle, 2 * 140 * 2 - 2 * 100 - 2 * 30 - 2 * 60);
  EXPECT_FALSE(energy_kwh(cluster, used)) << "the power of the GPUs is unknown";
  EXPECT_FALSE(cost_of(cluster, used));
}

// Integrates over each GPU and each interval between events, from the state alone.
struct Slow {
  double running = 0, starting = 0, down = 0, free = 0, unusable = 0, last_s = -1;
  double saving = 0, saving_down = 0;  // on GPUs which are free, or have been reclaimed

  void record_state(const Scene& scene, const SimState& s) {
    pass(static_cast<double>(s.head->now_us) / 1e6);
    const SimModel& f = scene.fixed();
    running_now = starting_now = down_now = free_now = 0;
    ready_s.clear();
    down_ready_s.clear();
    for (int32_t slot = 0; slot < s.head->high_water; ++slot) {
      if (s.phase[slot] != Phase::kRunning && s.phase[slot] != Phase::kStarting) continue;
      for (int32_t p = s.first_part[slot]; p != kNone; p = s.part_next[p]) {
        double gpus = count_bits(s.part_mask[p]);
        if (s.shape[slot] != kNone) {
          const TaskNeed need = need_of(f.jobs.shapes, s.shape[slot], s.part_role_group[p]);
          if (need.gpu_milli > 0) gpus = gpu_milli_on_node(f, s.part_node[p], need) / 1000.0;
        }
        (s.phase[slot] == Phase::kRunning ? running_now : starting_now) += gpus;
      }
    }
    for (int32_t m = 0; m < f.spec.num_nodes; ++m) {
      for (int32_t g = 0; g < f.spec.node_gpus[m]; ++g) {
        const double at_s = static_cast<double>(s.gpu_ready_us[f.spec.node_gpu0[m] + g]) / 1e6;
        if (f.faults && (s.idle_down_mask[m] >> g & 1)) {
          ++down_now;
          down_ready_s.push_back(at_s);
        }
        if (!(s.free_mask[m] >> g & 1)) continue;
        ++free_now;
        ready_s.push_back(at_s);
      }
    }
    unusable_now = Fragmentation(f).of(s).unusable;
  }

  void pass(double to_s) {
    const double dt = last_s < 0 ? 0 : to_s - last_s;
    running += dt * running_now;
    starting += dt * starting_now;
    down += dt * down_now;
    free += dt * free_now;
    unusable += dt * unusable_now;
    const auto saved = [&](double at_s) { return std::max(0.0, std::min(at_s, to_s) - last_s); };
    for (const double at_s : ready_s) saving += saved(at_s);
    for (const double at_s : down_ready_s) saving_down += saved(at_s);
    last_s = to_s;
  }

  double running_now = 0, starting_now = 0, down_now = 0, free_now = 0, unusable_now = 0;
  std::vector<double> ready_s, down_ready_s;
};

TEST(UsageMeter, SumsToAllTimeAndMatchesANaiveIntegral) {
  double saving = 0, saving_down = 0, lost = 0;
  for (const std::string policy : {"las", "srtf", "greedy"}) {
    for (uint64_t seed = 1; seed <= 6; ++seed) {
      const RandomWorld made = random_world(Rng(seed));
      Scene scene(made.cluster, made.jobs, made.costs);
      if (!made.faults.empty()) scene.set_faults(made.faults);
      const auto scheduler = make_policy(policy);
      SceneRunner runner(scene, *scheduler);
      UsageMeter meter(scene.cluster(), scene.trace());
      Slow slow;
      const int64_t begin_us = runner.state().head->now_us;
      while (runner.step()) {
        meter.record_state(scene.fixed(), runner.state());
        slow.record_state(scene, runner.state());
      }
      ASSERT_FALSE(runner.failed());
      const StateHeader& head = *runner.state().head;
      slow.pass(static_cast<double>(head.now_us) / 1e6);
      const GpuUsage used = *meter.end(head.now_us);
      const double all =
          static_cast<double>(head.now_us - begin_us) / 1e6 * scene.fixed().spec.total_gpus;
      const double near = 1e-9 * all;
      EXPECT_NEAR(used.time.total(), all, near);
      EXPECT_NEAR(used.time.running, slow.running, near);
      EXPECT_NEAR(used.time.starting, slow.starting, near);
      EXPECT_NEAR(used.time.saving, slow.saving + slow.saving_down, near);
      EXPECT_NEAR(used.time.down, slow.down - slow.saving_down, near);
      EXPECT_NEAR(used.time.idle, slow.free - slow.saving, near);
      EXPECT_NEAR(used.fragments.unusable, slow.unusable, near);
      EXPECT_NEAR(used.time.running + used.time.starting + used.time.unshared,
                  static_cast<double>(head.held_time_us) / 1e6, near);
      EXPECT_NEAR(used.time.down + slow.saving_down, static_cast<double>(head.down_time_us) / 1e6,
                  near);
      double busy = 0;
      for (const GpuTypeSeconds& type : used.types) busy += type.busy_s;
      EXPECT_NEAR(busy, static_cast<double>(head.held_time_us) / 1e6 + used.time.saving, near);
      saving_down += slow.saving_down;
      saving += used.time.saving;
      lost += used.time.lost;
    }
  }
  EXPECT_GT(saving, 0);
  EXPECT_GT(saving_down, 0);
  EXPECT_GT(lost, 0);
}

}  // namespace
}  // namespace yard::testing
