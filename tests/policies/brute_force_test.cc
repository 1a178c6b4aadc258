// All schedules of up to four jobs on a tiny cluster, by brute force: optimal policies reach the
// best one, and none beats it. Times are whole seconds and nothing has a cost, so a schedule
// chooses the running jobs of each second.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "experiments/evaluate/best_schedule.h"
#include "tests/support/scene.h"

namespace yard::testing {
namespace {

// Steps are seconds.
std::vector<JobLine> lines_of(const std::vector<TinyJob>& tiny) {
  std::vector<JobLine> lines;
  for (const TinyJob& job : tiny) {
    lines.push_back({static_cast<double>(job.submit), job.gpus, static_cast<double>(job.run)});
  }
  return lines;
}

int total_s(const std::string& cluster, const std::vector<TinyJob>& jobs, const Policy& policy) {
  const Scene scene(cluster, jobs_of(lines_of(jobs)), no_costs());
  SceneRunner runner(scene, policy);
  runner.play();
  const int64_t total_us = total_jct_us(scene, runner.jobs());
  EXPECT_EQ(total_us % kSecond, 0) << "the search uses whole seconds only";
  return static_cast<int>(total_us / kSecond);
}

constexpr int kCases = 150;

TEST(BruteForce, MatchesHandComputedOptima) {
  // 4 s, then 1 s at 1: preempt the long one. JCT 5 + 1.
  EXPECT_EQ(OptimalScheduleSearch({{0, 1, 4}, {1, 1, 1}}, 1).total(), 6);
  // A gang of two and two singles on two GPUs: singles first. JCT 1 + 1 + 3.
  EXPECT_EQ(OptimalScheduleSearch({{0, 2, 2}, {0, 1, 1}, {0, 1, 1}}, 2).total(), 5);
}

TEST(BruteForce, SrtfIsOptimalOnOneGpu) {
  const auto srtf = make_policy("srtf");
  for (uint64_t i = 0; i < kCases; ++i) {
    const auto jobs = draw_tiny_jobs(Rng(31).split(i), 1, false);
    ASSERT_EQ(total_s("1x1", jobs, *srtf), OptimalScheduleSearch(jobs, 1).total()) << "case " << i;
  }
}

TEST(BruteForce, SjfIsOptimalOnOneGpuForSimultaneousJobs) {
  const auto sjf = make_policy("sjf");
  for (uint64_t i = 0; i < kCases; ++i) {
    const auto jobs = draw_tiny_jobs(Rng(32).split(i), 1, true);
    ASSERT_EQ(total_s("1x1", jobs, *sjf), OptimalScheduleSearch(jobs, 1).total()) << "case " << i;
  }
}

TEST(BruteForce, NoPolicyBeatsTheBestSchedule) {
  int worse = 0;
  for (const std::string& name : PolicyRegistry::names()) {
    SCOPED_TRACE(name);
    // Limits that are reached at whole seconds, for any number of GPUs.
    const bool queues = name == "las" || name.starts_with("tiresias");
    const auto policy = make_policy(queues ? name + " limit_1_gpu_s=12 limit_2_gpu_s=24" : name);
    for (const char* cluster : {"1x1", "1x3", "2x2"}) {
      const int32_t gpus = load_cluster(cluster).total_gpus();
      for (uint64_t i = 0; i < kCases / 5; ++i) {
        const auto jobs = draw_tiny_jobs(Rng(33).split(i), static_cast<uint32_t>(gpus), false);
        const int total = total_s(cluster, jobs, *policy),
                  best = OptimalScheduleSearch(jobs, gpus).total();
        ASSERT_GE(total, best) << cluster << ", case " << i;
        worse += total > best;
      }
    }
  }
  EXPECT_GT(worse, 0) << "a bound that every policy reaches proves nothing";
}

}  // namespace
}  // namespace yard::testing
