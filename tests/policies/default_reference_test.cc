// The `default` rules and the heuristics on them against a slow simulator that shares no code with
// them: every job starts, ends and is stopped alike, over random jobs, clusters and costs.
#include "tests/reference/default_reference.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <vector>

#include "env/sim/pacing.h"
#include "policies/policy.h"
#include "tests/support/scene.h"
#include "tests/support/step_checker.h"

namespace yard::testing {
namespace {

struct Cluster {
  std::string text;
  std::vector<reference::PlainNode> nodes;
};

// Halves and doubles keep work exact in binary.
std::vector<Cluster> clusters() {
  const std::string mixed =
      ::testing::TempDir() + "mixed_speeds_" + std::to_string(::getpid()) + ".yaml";
  std::ofstream(mixed) << "gpu_types: {slow: {speed: 0.5}, fast: {speed: 2}}\n"
                          "nodes: [{gpus: 2, type: slow}, {gpus: 4, type: fast}, {gpus: 6}]\n";
  return {{"1x4", {{4}}},
          {"3x4", {{4}, {4}, {4}}},
          {"2x8", {{8}, {8}}},
          {"1x3+2x16", {{3}, {16}, {16}}},
          {mixed, {{2, 0.5}, {4, 2}, {6}}}};
}

int total_gpus(const Cluster& cluster) {
  int sum = 0;
  for (const reference::PlainNode& node : cluster.nodes) sum += node.gpus;
  return sum;
}

// Submissions and run times meet saves and restores where they are multiples of 10 s.
std::vector<Job> draw_jobs(Rng& rng, int largest) {
  const int64_t grain_us = rng.below(2) == 0 ? 10 * kSecond : 1;
  const int64_t mean_run_s = rng.below(2) == 0 ? 200 : 5'000;
  std::vector<Job> jobs;
  int64_t submit_us = 0;
  const uint32_t count = 5 + rng.below(35);
  const auto round = [&](double us) { return static_cast<int64_t>(us) / grain_us * grain_us; };
  for (uint32_t j = 0; j < count; ++j) {
    Job job;
    job.id = std::to_string(j);
    if (rng.below(4) != 0) submit_us += round(rng.exponential() * 200e6);
    job.submit_us = submit_us;
    job.run_us = rng.below(20) == 0 ? 0 : round(rng.exponential() * mean_run_s * 1e6);
    job.gpus = 1 + static_cast<int32_t>(rng.below(static_cast<uint32_t>(largest)));
    if (rng.below(2) == 0) job.gpus = std::min(1 << rng.below(5), largest);
    jobs.push_back(job);
  }
  return jobs;
}

void expect_same(const Cluster& cluster, const std::vector<Job>& jobs, const Costs& costs,
                 const std::string& name) {
  SCOPED_TRACE(name + " on " + cluster.text);
  const Scene scene(cluster.text, jobs, costs);
  const auto policy = make_policy(name);
  PolicyDecider decider(*policy);
  StepChecker checker(scene.fixed());
  const Outcome fast = PacingRegistry::make("default", {})
                           ->replay({.fixed = scene.fixed(),
                                     .workload = scene.workload(),
                                     .first_job = 0,
                                     .end_job = scene.size(),
                                     .policy = name,
                                     .placement = "",
                                     .settings = {},
                                     .decider = &decider,
                                     .watch = checker.watcher()});
  EXPECT_EQ(checker.broken(), "");
  std::vector<reference::MicrosJob> plain;
  for (const Job& job : jobs) plain.push_back({job.submit_us, job.run_us, job.gpus});
  const auto slow = reference::play_default(
      plain, cluster.nodes,
      {costs.save_us, costs.restore_us, costs.restore_large_us, costs.small_gpus}, name);
  for (size_t j = 0; j < jobs.size(); ++j) {
    SCOPED_TRACE("job " + std::to_string(j));
    ASSERT_EQ(fast.jobs[j].start_us, slow[j].start_us);
    ASSERT_EQ(fast.jobs[j].end_us, slow[j].end_us);
    ASSERT_EQ(fast.jobs[j].preemptions, slow[j].preemptions);
    ASSERT_EQ(fast.jobs[j].restarts, slow[j].starts - 1);
  }
}

class DefaultReference : public ::testing::TestWithParam<std::string> {};

TEST_P(DefaultReference, TheSlowSimulatorAgrees) {
  const std::vector<Cluster> all = clusters();
  const Costs costs[] = {
      {},
      no_costs(),
      {.save_us = 40'000'000, .restore_us = 120'000'000, .restore_large_us = 240'000'000}};
  for (uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng{seed};
    const Cluster& cluster = all[rng.below(static_cast<uint32_t>(all.size()))];
    const std::vector<Job> jobs = draw_jobs(rng, total_gpus(cluster));
    expect_same(cluster, jobs, costs[rng.below(3)], GetParam());
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(All, DefaultReference,
                         ::testing::Values("fifo", "backfill", "sjf", "srtf", "las"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace yard::testing
