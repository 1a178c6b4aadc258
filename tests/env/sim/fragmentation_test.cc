// Fragmentation by hand, and against a recomputation over all GPUs and tasks.
#include "env/sim/metrics/fragmentation.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "env/sim/rules/rules.h"
#include "tests/support/random_world.h"
#include "tests/support/scene.h"

namespace yard::testing {
namespace {

TEST(Fragmentation, MatchesHandComputationOnTwoNodes) {
  // Tasks: a 8 (a whole node), b and c 2, d 10 = a whole node and 2: shares 2/5 of 8, 3/5 of 2.
  const Scene scene("2x8", jobs_of({{0, 8, 100}, {0, 2, 100}, {0, 2, 100}, {0, 10, 100}}),
                    no_costs());
  World world(scene.fixed(), scene.size());
  world.reset(0, scene.size());
  SimState& s = world.state();
  world.advance(scene.truth());
  Fragmentation fragmentation(scene.fixed());
  FreeGpuCounts now = fragmentation.of(s);
  EXPECT_EQ(now.free, 16);
  EXPECT_EQ(now.unusable, 0) << "everything fits everywhere";
  EXPECT_EQ(now.partial, 0);
  EXPECT_EQ(now.stranded, 0);
  EXPECT_EQ(now.largest_block, 8);
  EXPECT_EQ(now.ideal_block, 8);

  // b and c on different nodes: neither node is whole any more.
  const int32_t b = world.state().queue_next[s.head->queue_head], c = s.queue_next[b];
  const Piece first{.node = 0, .gpus = 2}, second{.node = 1, .gpus = 2};
  start(scene.fixed(), s, b, &first, 1);
  start(scene.fixed(), s, c, &second, 1);
  now = fragmentation.of(s);
  EXPECT_EQ(now.free, 12);
  EXPECT_DOUBLE_EQ(now.unusable, 0.4 * 12);
  EXPECT_EQ(now.partial, 12);
  EXPECT_EQ(now.stranded, 0);
  EXPECT_EQ(now.largest_block, 6);
  EXPECT_EQ(now.ideal_block, 8);
}

TEST(Fragmentation, MatchesHandComputationOfSharesAndCores) {
  ClusterSpec cluster = load_cluster("1x2");
  cluster.types[0].shares = Shares::kMilli;
  cluster.nodes[0].cpus = 4;
  std::vector<Job> jobs = jobs_of({{0, 1, 100}, {0, 1, 100}, {0, 1, 100}, {0, 0, 100}});
  jobs[0].groups = {group_of(1, 0, 600, 1000, 0)};  // 0.6 of a GPU, a core
  jobs[1].groups = {group_of(1, 0, 600, 1000, 0)};
  jobs[2].groups = {group_of(1, 1, 0, 1000, 0)};  // a whole GPU
  jobs[3].groups = {group_of(1, 0, 0, 3000, 0)};  // no GPU: every free GPU is useless to it
  const Scene scene(cluster, jobs, no_costs());
  World world(scene.fixed(), scene.size());
  world.reset(0, scene.size());
  SimState& s = world.state();
  world.advance(scene.truth());
  Fragmentation fragmentation(scene.fixed());
  EXPECT_DOUBLE_EQ(fragmentation.of(s).unusable, 2 * 0.25);

  const int32_t first = s.head->queue_head;
  const Piece piece{.node = 0, .gpus = 0, .group = 0, .tasks = 1};
  start(scene.fixed(), s, first, &piece, 1);
  // Left: 0.4 of one GPU, another whole, three cores. No job can use the 0.4.
  FreeGpuCounts now = fragmentation.of(s);
  EXPECT_DOUBLE_EQ(now.free, 1.4);
  EXPECT_DOUBLE_EQ(now.unusable, 0.5 * 0.4 + 0.25 * 0.4 + 0.25 * 1.4);
  EXPECT_DOUBLE_EQ(now.partial, 1.4);
  EXPECT_EQ(now.stranded, 0);

  // The job without GPUs takes the last cores: no job can use the free GPUs.
  int32_t last = first;
  for (int32_t slot = s.head->queue_head; slot != kNone; slot = s.queue_next[slot]) last = slot;
  start(scene.fixed(), s, last, &piece, 1);
  now = fragmentation.of(s);
  EXPECT_DOUBLE_EQ(now.stranded, 1.4);
  EXPECT_DOUBLE_EQ(now.unusable, 1.4);
}

// Returns the free thousandths of each GPU of a node.
std::vector<int32_t> free_milli(const SimModel& f, const SimState& s, int32_t node) {
  std::vector<int32_t> out;
  for (int32_t g = 0; g < f.spec.node_gpus[node]; ++g) {
    const bool down = f.faults && (s.down_mask[node] >> g & 1) != 0;
    if (s.free_mask[node] >> g & 1) {
      out.push_back(kWholeGpu);
    } else if (f.jobs.shapes.max_loose_tasks > 0 && (s.shared_mask[node] >> g & 1) && !down) {
      out.push_back(s.share_milli[f.spec.node_gpu0[node] + g]);
    } else {
      out.push_back(0);
    }
  }
  return out;
}

// Returns the thousandths of a node's GPUs which are free but useless to a task of the job.
int64_t no_use(const SimModel& f, const ClusterSpec& cluster, const SimState& s, int32_t node,
               const Job& job, const Resources& task) {
  const std::vector<int32_t> milli = free_milli(f, s, node);
  int64_t all = 0, too_small = 0;
  const GpuType& type =
      cluster.types[static_cast<size_t>(cluster.nodes[static_cast<size_t>(node)].type)];
  const int32_t wanted =
      task.gpu_milli > 0 && type.shares == Shares::kMilli ? task.gpu_milli : kWholeGpu;
  const auto mem_mib = static_cast<int32_t>(std::llround(1024 * task.gpu_mem_gib));
  int32_t fitting = 0;
  for (size_t g = 0; g < milli.size(); ++g) {
    all += milli[g];
    int32_t mem_left =
        type.mem_gib > 0 ? static_cast<int32_t>(std::llround(1024 * type.mem_gib)) : INT32_MAX;
    if (milli[g] > 0 && milli[g] < kWholeGpu) {
      mem_left = s.share_mem_mib[f.spec.node_gpu0[node] + static_cast<int32_t>(g)];
    }
    const bool shared = milli[g] > 0 && !(s.free_mask[node] >> g & 1);
    if (shared) mem_left = s.share_mem_mib[f.spec.node_gpu0[node] + static_cast<int32_t>(g)];
    if (milli[g] >= wanted && mem_left >= mem_mib) {
      ++fitting;
    } else if (shared) {
      too_small += milli[g];
    }
  }
  const int32_t gpus = task.gpus + (task.gpu_milli > 0 ? 1 : 0);
  const auto& names = job.gpu_types;
  const bool runs = names.empty() || std::count(names.begin(), names.end(), type.name) > 0;
  const bool cores = task.cpu_milli <= s.free_cpu_milli[node];
  const bool memory = task.mem_mib <= s.free_mem_mib[node];
  if (gpus == 0 || fitting < gpus || !runs || !cores || !memory) return all;
  return too_small;
}

TEST(Fragmentation, MatchesANaiveRecomputation) {
  double seen = 0;
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    const RandomWorld made = random_world(Rng(seed));
    Scene scene(made.cluster, made.jobs, made.costs);
    if (!made.faults.empty()) scene.set_faults(made.faults);
    const SimModel& f = scene.fixed();
    const auto policy = make_policy("greedy");
    SceneRunner runner(scene, *policy);
    Fragmentation fragmentation(f);
    while (runner.step()) {
      const SimState& s = runner.state();
      double free = 0, unusable = 0, partial = 0;
      int32_t largest = 0;
      for (int32_t m = 0; m < f.spec.num_nodes; ++m) {
        int64_t here = 0;
        for (const int32_t milli : free_milli(f, s, m)) here += milli;
        free += here / 1000.0;
        if (s.free_count[m] < f.spec.node_gpus[m]) partial += here / 1000.0;
        largest = std::max(largest, s.free_count[m]);
        double sum = 0, tasks = 0;
        for (const Job& job : scene.jobs()) {
          if (job.groups.empty()) {
            const bool split = f.jobs.shape[&job - scene.jobs().data()] != kNone;
            const int32_t task_gpus = split ? 1 : f.spec.max_node_gpus;
            for (int32_t left = job.gpus; left > 0; left -= task_gpus) {
              const Resources task{.gpus = std::min(left, task_gpus)};
              sum += static_cast<double>(no_use(f, made.cluster, s, m, job, task));
              ++tasks;
            }
          }
          for (const RoleGroup& g : job.groups) {
            sum += g.count * static_cast<double>(no_use(f, made.cluster, s, m, job, g.task));
            tasks += g.count;
          }
        }
        unusable += sum / tasks / 1000;
      }
      const FreeGpuCounts& fast = fragmentation.of(s);
      ASSERT_NEAR(fast.free, free, 1e-9) << "seed " << seed << " at " << s.head->now_us;
      ASSERT_NEAR(fast.unusable, unusable, 1e-6) << "seed " << seed << " at " << s.head->now_us;
      ASSERT_NEAR(fast.partial, partial, 1e-9);
      ASSERT_EQ(fast.largest_block, largest);
      seen += unusable;
    }
    ASSERT_FALSE(runner.failed());
  }
  EXPECT_GT(seen, 0);
}

}  // namespace
}  // namespace yard::testing
