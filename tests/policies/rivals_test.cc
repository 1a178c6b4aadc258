// Rivals of the agents, by hand: AFS' comparison, least-loaded placement on a job's own nodes, and
// the rule that chooses exchange patterns.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "env/sim/placement/throughput_model.h"
#include "tests/support/elastic_jobs.h"
#include "tests/support/exchange_scene.h"
#include "tests/support/scene.h"

namespace yard::testing {
namespace {

Job elastic(const std::string& id, double run_s, int most = 8) {
  return job_of_tasks(id, 0, 1, 1, most, run_s);
}

// Speed is proportional to tasks. With n and m tasks, the longer job gets the next one if
// 1 / (m + 1) > 1 / n. So the shorter job is at most two tasks ahead:
// (1,1) (2,1) (3,1) (3,2) (4,2) (4,3) (5,3)
TEST(Afs, ShorterJobStaysAhead) {
  const auto sizes = [](const std::vector<Job>& jobs) {
    return first_sizes(Scene("1x8", jobs, no_costs()), "afs");
  };
  EXPECT_EQ(sizes({elastic("a", 100), elastic("b", 9000)}), (std::vector<int>{5, 3}));
  EXPECT_EQ(sizes({elastic("a", 9000), elastic("b", 100)}), (std::vector<int>{3, 5}));
  EXPECT_EQ(sizes({elastic("a", 100, 2), elastic("b", 9000)}), (std::vector<int>{2, 6}))
      << "one job gets what the other cannot use";
}

// If the minimum sizes do not all fit, shorter jobs start first; under Optimus, earlier ones.
TEST(Afs, UnstartedJobsStartShortestFirst) {
  const std::vector<Job> jobs = {elastic("a", 9000), elastic("b", 300), elastic("c", 200)};
  EXPECT_EQ(first_sizes(Scene("1x2", jobs, no_costs()), "afs"), (std::vector<int>{0, 1, 1}));
  EXPECT_EQ(first_sizes(Scene("1x2", jobs, no_costs()), "optimus"), (std::vector<int>{1, 1, 0}));
}

// On four GPUs the shorter job (1200 GPU-seconds) has three and ends at 400. The other, with one,
// has done 600 of 2400 when the slot ends at 600. It then has all four and needs 450 s more.
TEST(Afs, MatchesHandComputation) {
  const Scene scene("1x4", {elastic("a", 1200, 4), elastic("b", 2400, 4)}, no_costs());
  const auto afs = make_policy("afs timer_s=600");
  SceneRunner runner(scene, *afs);
  runner.play();
  ASSERT_FALSE(runner.failed());
  EXPECT_EQ(runner.jobs()[0].end_us, 400 * kSecond);
  EXPECT_EQ(runner.jobs()[1].end_us, 1050 * kSecond);
  EXPECT_EQ(runner.jobs()[1].preemptions, 1);
}

// Plays out the assumption behind the comparison. The next GPU goes either to the shorter job and,
// after its end, to the longer, or to the longer at once. The smaller sum of end times wins. Speed
// grows sublinearly, so that both cases occur.
TEST(Afs, NextGpuMinimisesTheSumOfEnds) {
  ClusterSpec cluster = two_racks();
  cluster.nodes.resize(1);
  cluster.nodes[0].gpus = 8;
  for (NetworkTierSpec& tier : cluster.tiers) tier = {24, 25, 1};
  Rng rng(7);
  int longer_first = 0, decided = 0;
  for (int trial = 0; trial < 60; ++trial) {
    std::vector<Job> jobs = {elastic("a", 100 + rng.below(20'000)),
                             elastic("b", 100 + rng.below(20'000))};
    for (Job& job : jobs) job.model = rng.below(2) == 0 ? "small" : "large";
    jobs[1].gpus = 8;  // the speed table ends at eight
    jobs[1].groups[0].count = 8;
    const ExchangeScene scene(cluster, jobs, false);
    World world(scene.fixed(), 2);
    world.reset(0, 2);
    ASSERT_TRUE(world.advance(scene.scene().truth()));
    const View view(scene.fixed(), world.state(), InformationLevel::kEstimate);
    const ThroughputModel throughput_model(view);
    const auto speed = [&](int j, int tasks) {
      return throughput_model.throughput_at_size(j, 0, std::vector{tasks});
    };
    std::vector<int> sizes = {1, 1};
    bool sure = true;
    while (sizes[0] + sizes[1] < 8) {
      const auto work = [&](int j) { return 1e-6 * static_cast<double>(jobs[j].run_us); };
      const auto ends = [&](int j) { return work(j) / speed(j, sizes[j]); };
      const int a = ends(1) < ends(0) ? 1 : 0, b = 1 - a;
      const double p_a = speed(a, sizes[a]), p_b = speed(b, sizes[b]);
      const double more_a = speed(a, sizes[a] + 1), more_b = speed(b, sizes[b] + 1);
      const double a_ends = work(a) / more_a;
      const double to_a = a_ends + a_ends + (work(b) - p_b * a_ends) / more_b;
      const double to_b = work(a) / p_a + work(b) / more_b;
      sure = sure && std::abs(to_a - to_b) > 1e-6 * to_a && more_a > p_a && more_b > p_b;
      longer_first += to_b < to_a;
      ++sizes[to_b < to_a ? b : a];
    }
    if (!sure) continue;
    ++decided;
    EXPECT_EQ(first_sizes(scene.scene(), "afs"), sizes) << "trial " << trial;
  }
  EXPECT_GT(decided, 30);
  EXPECT_GT(longer_first, 30);
}

// Two nodes of four GPUs. `a` has three tasks and stays on node 0, where its first task went; load
// alone would spread them over both. `b` goes to the emptier node 1, whole. `c` needs three tasks:
// two go to node 1, and the third to a node with room.
TEST(OwnNode, TasksFollowTheirOwnJob) {
  const std::vector<Job> jobs = {job_of_tasks("a", 0, 3, 3, 3, 100),
                                 job_of_tasks("b", 1, 2, 2, 2, 100),
                                 job_of_tasks("c", 2, 3, 3, 3, 100)};
  const Scene scene("2x4", jobs, no_costs());
  const auto tasks_on = [&](const std::string& policy) {
    const auto scheduler = make_policy(policy);
    SceneRunner runner(scene, *scheduler);
    for (int event = 0; event < 3; ++event) EXPECT_TRUE(runner.step());
    std::vector<std::vector<int>> out(3, std::vector<int>(2, 0));
    for (int32_t i = 0; i < runner.view().num_holders(); ++i) {
      const int32_t slot = runner.view().holder_slot(i);
      for (int32_t p = runner.view().first_part(slot); p != kNone; p = runner.view().next_part(p)) {
        out[static_cast<size_t>(runner.view().serial(slot))]
           [static_cast<size_t>(runner.view().part_node(p))] += runner.view().part_tasks(p);
      }
    }
    return out;
  };
  using Tasks = std::vector<std::vector<int>>;
  EXPECT_EQ(tasks_on("least-loaded own_node=true"), (Tasks{{3, 0}, {0, 2}, {1, 2}}));
  EXPECT_EQ(tasks_on("least-loaded"), (Tasks{{2, 1}, {1, 1}, {1, 2}}));
}

// Three nodes of two GPUs; jobs of three GPUs use two nodes and share node 1. An exchange of 1 GB
// takes 1.001 s hierarchically, 1.5 s by a ring, 4 s by a tree. With a step of 0.099 s, an
// iteration is 1.1 s hierarchically, and 1.599 s by the ring that the trace's run times assume. So
// each sends 1/1.1 GB/s over a link of 1 GB/s. The lower-priority job has 0.0909 of the link and
// needs ten times as much: its iteration is 1 + 1.001 / 1.1 x 9 = 9.19 times as long. Jobs:
// short   1000 iterations, 1100 s, of the second class
// middle  2000, of the third: 1000 / 9.19 until `short` ends, the others in 1.1 s each
// long    10,000, of the fourth: waits for `short`, is slowed by `middle`, then runs alone
TEST(ExchangeSjf, MatchesHandComputation) {
  ClusterSpec cluster = load_cluster("3x2");
  for (NetworkTierSpec& tier : cluster.tiers) tier = {8, 0, 1};
  cluster.tiers[static_cast<size_t>(Tier::kIsland)] = {8000, 0, 1};
  cluster.tiers[static_cast<size_t>(Tier::kNode)] = {8000, 0, 1};
  cluster.models["even"] = {.gradient_mib = 1e9 / (1024 * 1024), .step_ms = 99};
  cluster.choose_exchange = true;
  std::vector<Job> jobs = jobs_of({{0, 3, 15'990}, {0, 3, 3'198}, {0, 3, 1'599}});
  for (Job& job : jobs) {
    job.model = "even";
    job.pattern = Pattern::kRing;
    job.limit_us = job.run_us;
  }
  const ExchangeScene scene(cluster, jobs);
  const auto ends_s = [&](const std::string& name) {
    const auto policy = make_policy(name);
    SceneRunner runner(scene.scene(), *policy);
    runner.play();
    EXPECT_FALSE(runner.failed());
    std::vector<double> out;
    for (const JobOutcome& job : runner.jobs()) {
      out.push_back(1e-6 * static_cast<double>(job.end_us));
    }
    return out;
  };
  const double slow = 1 + 1.001 / 1.1 * 9;
  const double middle = 1100 + 1.1 * (2000 - 1000 / slow);
  const double left = 10'000 - (middle - 1100) / 1.1 / slow;
  const std::vector<double> ends = ends_s("exchange-sjf");
  EXPECT_NEAR(ends[2], 1100, 1e-3);
  EXPECT_NEAR(ends[1], middle, 1e-2);
  EXPECT_NEAR(ends[0], middle + 1.1 * left, 1e-2);
  // With ring exchanges and equal priorities, the same order takes longer for each job.
  const std::vector<double> rings = ends_s("sjf-estimate placement=best-fit");
  for (size_t j = 0; j < ends.size(); ++j) EXPECT_GT(rings[j], ends[j]);
}

// Priority follows the limit; jobs without a limit have none. Without a choice nothing is set.
TEST(ExchangeSjf, ShorterJobsHavePriorityOnLinks) {
  const double limits_s[] = {900, 901, 1800, 3600, 3601, 0};
  const int priorities[] = {3, 2, 2, 1, 0, 0};
  for (size_t j = 0; j < std::size(limits_s); ++j) {
    std::vector<Job> jobs = jobs_of({{0, 4, 1000}});
    jobs[0].model = "small";
    jobs[0].limit_us = limits_s[j] > 0 ? static_cast<int64_t>(limits_s[j] * 1e6) : kNone;
    for (const bool choose : {true, false}) {
      const ExchangeScene scene(two_racks(), jobs, choose);
      const auto policy = make_policy("exchange-sjf");
      SceneRunner runner(scene.scene(), *policy);
      ASSERT_TRUE(runner.step());
      ASSERT_EQ(runner.plan().edits.size(), 1U);
      const AllReduceSettings& exchange = runner.plan().edits[0].exchange;
      EXPECT_EQ(exchange.priority, choose ? priorities[j] : 0) << limits_s[j];
      // Small gradients, so the number of messages counts: hierarchical sends the fewest between
      // nodes.
      EXPECT_EQ(
          exchange.all_reduce == Pattern::kHierarchical || exchange.all_reduce == Pattern::kNone,
          true);
    }
  }
}

}  // namespace
}  // namespace yard::testing
