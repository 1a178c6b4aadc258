// Policies that size elastic jobs: DRF's shares, and Optimus' gains against brute force.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/elastic_jobs.h"
#include "tests/support/scene.h"

namespace yard::testing {
namespace {

Job elastic_job(int index, int asked, int64_t run_s, int most) {
  return job_of_tasks("j" + std::to_string(index), 0, asked, 1, most, static_cast<double>(run_s));
}

TEST(Drf, SharesAreEqualUpToTheMaximumSizes) {
  const auto sizes = [](const std::vector<Job>& jobs) {
    return first_sizes(Scene("2x4", jobs, no_costs()), "drf");
  };
  EXPECT_EQ(sizes({elastic_job(0, 2, 900, 8), elastic_job(1, 2, 100, 8)}),
            (std::vector<int>{4, 4}));
  EXPECT_EQ(sizes({elastic_job(0, 1, 900, 1), elastic_job(1, 2, 100, 3), elastic_job(2, 1, 5, 8)}),
            (std::vector<int>{1, 3, 4}));
}

// A task counts by its dominant resource: one with 4 of 16 cores equals two of the other job's,
// with 1 of 8 GPUs each. From shares of 1/2 and 1/2 both grow while there is room.
TEST(Drf, DominantResourceCounts) {
  Job cores = elastic_job(0, 1, 900, 8), gpus = elastic_job(1, 1, 900, 8);
  cores.groups[0].task.cpu_milli = 4000;
  ClusterSpec cluster = load_cluster("2x4");
  for (Node& node : cluster.nodes) node.cpus = 8;
  EXPECT_EQ(first_sizes(Scene(cluster, {cores, gpus}, no_costs()), "drf"),
            (std::vector<int>{3, 5}));
}

// Greedy gains are optimal if gains decrease: the remaining times sum up as by brute force.
TEST(Optimus, GreedyGainsGiveTheBestSizes) {
  for (const std::vector<int64_t>& run_s : std::vector<std::vector<int64_t>>{
           {4000, 1000}, {9000, 1000}, {500, 500, 8000}, {100, 1600, 6400}, {7, 700, 70}}) {
    std::vector<Job> jobs;
    for (size_t j = 0; j < run_s.size(); ++j) {
      jobs.push_back(elastic_job(static_cast<int>(j), 2, run_s[j], 8));
    }
    const auto sum_s = [&](const std::vector<int>& tasks) {
      double sum = 0;
      for (size_t j = 0; j < run_s.size(); ++j) {
        sum += 2.0 * static_cast<double>(run_s[j]) / tasks[j];
      }
      return sum;
    };
    double best_s = 1e18;
    for (int a = 1; a <= 8; ++a) {
      for (int b = 1; a + b <= 8; ++b) {
        if (run_s.size() == 2) best_s = std::min(best_s, sum_s({a, b}));
        for (int c = 1; run_s.size() == 3 && a + b + c <= 8; ++c) {
          best_s = std::min(best_s, sum_s({a, b, c}));
        }
      }
    }
    const std::vector<int> sizes = first_sizes(Scene("2x4", jobs, no_costs()), "optimus");
    EXPECT_NEAR(sum_s(sizes), best_s, 1e-9);
  }
}

// The second job arrives at 100 and waits for the slot's end at 600. The first has then done half
// of its 4800 GPU-seconds and continues on two of four GPUs. The second ends its 1200 at 1200; the
// first then has all four.
TEST(Drf, SizesChangeAtTheEndsOfSlots) {
  std::vector<Job> jobs = {elastic_job(0, 4, 1200, 4), elastic_job(1, 2, 600, 4)};
  jobs[1].submit_us = 100 * kSecond;
  const Scene scene("1x4", jobs, no_costs());
  const auto drf = make_policy("drf timer_s=600");
  SceneRunner runner(scene, *drf);
  runner.play();
  ASSERT_FALSE(runner.failed());
  EXPECT_EQ(runner.jobs()[0].start_us, 0);
  EXPECT_EQ(runner.jobs()[1].start_us, 600 * kSecond);
  EXPECT_EQ(runner.jobs()[1].end_us, 1200 * kSecond);
  EXPECT_EQ(runner.jobs()[0].end_us, 1500 * kSecond);
  EXPECT_EQ(runner.jobs()[0].preemptions, 2);
}

// Two GPUs are free, one on each node, so a task of two fits on no node. The next jobs get them:
// first a rigid job, then an elastic one with both. Counting GPUs alone would leave none for them.
TEST(SizeAllocation, TaskThatFitsNowhereBlocksNothing) {
  for (const std::string name : {"drf", "drf share=job", "optimus", "afs"}) {
    SCOPED_TRACE(name);
    std::vector<Job> jobs = jobs_of({{0, 3, 1000}, {0, 3, 1000}, {1, 2, 50}, {2, 1, 100}});
    for (size_t j = 0; j < jobs.size(); ++j) {
      jobs[j].user = "u" + std::to_string(j);
      jobs[j].limit_us = jobs[j].run_us;
      RoleGroup group;
      group.count = 1;
      group.task.gpus = jobs[j].gpus;
      jobs[j].groups = {group};
    }
    const auto scheduler = make_policy(name);
    const Scene rigid("2x4", jobs, no_costs());
    SceneRunner runner(rigid, *scheduler);
    runner.play();
    ASSERT_FALSE(runner.failed());
    EXPECT_EQ(runner.jobs()[2].start_us, 1000 * kSecond);
    EXPECT_EQ(runner.jobs()[3].start_us, 2 * kSecond);
    jobs[3].groups[0].min_count = 1;
    jobs[3].groups[0].count = jobs[3].groups[0].max_count = jobs[3].gpus = 2;
    const Scene elastic("2x4", jobs, no_costs());
    SceneRunner grows(elastic, *scheduler);
    while (grows.step() && grows.view().now_us() < 2 * kSecond) {
    }
    ASSERT_FALSE(grows.failed());
    EXPECT_EQ(grows.view().free_gpus(), 0);
  }
}

}  // namespace
}  // namespace yard::testing
