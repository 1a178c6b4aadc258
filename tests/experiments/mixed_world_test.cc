// The built-in mixed workload on its cluster: placement, GPU type and preemption matter, without
// any external file.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "experiments/replay/load_scenario.h"
#include "experiments/replay/replay.h"

namespace yard {
namespace {

Scenario episode(uint64_t seed, const std::string& cluster = "mixed-9") {
  ScenarioOptions options;
  options.trace = "synthetic:mixed";
  options.cluster = cluster;
  options.seed = seed;
  return load_scenario(options);
}

double mean_jct_s(const Scenario& scenario, const std::string& policy) {
  return run_policy(scenario, policy, {}).summary.all.mean_jct_s;
}

TEST(MixedWorld, PlacementAndPreemptionMatter) {
  double log_place = 0, log_preemption = 0, log_bound = 0;
  constexpr int kEpisodes = 4;
  for (uint64_t seed = 1; seed <= kEpisodes; ++seed) {
    const Scenario scenario = episode(seed);
    const double placed = mean_jct_s(scenario, "las-skew");
    log_place += std::log(placed / mean_jct_s(scenario, "las")) / kEpisodes;
    log_preemption += std::log(placed / mean_jct_s(scenario, "fifo-skew")) / kEpisodes;
    log_bound += std::log(mean_jct_s(scenario, "joint-oracle") / placed) / kEpisodes;
  }
  // Over 24 episodes the ratios are 0.51, 0.65 and 0.78.
  EXPECT_LT(std::exp(log_place), 0.7);
  EXPECT_LT(std::exp(log_preemption), 0.8);
  EXPECT_LT(std::exp(log_bound), 0.9);
}

// A policy which migrates keeps to what the cluster allows.
TEST(MixedWorld, ClusterPermissionsApply) {
  ScenarioOptions options;
  options.trace = "synthetic:mixed";
  options.cluster = "mixed-9";
  const Summary all = run_policy(load_scenario(options), "joint", {}).summary;
  EXPECT_GT(all.migrations, 0);
  EXPECT_GT(all.preemptions, all.migrations);
  options.variation.allows = {.preempt = true, .move = false};
  const Scenario requeues = load_scenario(options);
  const Summary requeued = run_policy(requeues, "joint", {}).summary;
  EXPECT_EQ(requeued.migrations, 0);
  EXPECT_GT(requeued.preemptions, 0);
  EXPECT_EQ(run_policy(perturbed_replica_of(requeues, Rng(1)), "joint", {}).summary.migrations, 0);
  options.variation.allows = {.preempt = false, .move = false};
  const Summary started = run_policy(load_scenario(options), "joint", {}).summary;
  EXPECT_EQ(started.preemptions, 0);
  EXPECT_EQ(started.all.finished, started.all.jobs);
}

TEST(MixedWorld, ClusterAndLoadAreScaled) {
  ScenarioOptions options;
  options.trace = "synthetic:habits";
  options.generate_jobs = 300;
  options.cluster = "4x8";
  const Scenario whole = load_scenario(options);
  options.variation.load = 2;
  const Scenario crowded = load_scenario(options);
  EXPECT_NEAR(crowded.load, 2 * whole.load, 1e-3 * whole.load);
  EXPECT_GT(crowded.congestion, 0);
  options.variation = {};
  options.variation.cluster = 0.5;
  EXPECT_EQ(load_scenario(options).cluster.total_gpus(), 16);
}

// On a cluster without speeds by model, the same jobs run at the speed of its GPUs.
TEST(MixedWorld, ModelsDoNotMatterOnOtherClusters) {
  const Scenario plain = episode(1, "9x8");
  EXPECT_EQ(plain.speeds, nullptr);
  const Scenario mixed = episode(1);
  ASSERT_NE(mixed.speeds, nullptr);
  for (size_t j = 0; j < mixed.trace.jobs.size(); ++j) {
    ASSERT_EQ(mixed.isolated_us[j], plain.isolated_us[j])
        << "run times are those on the fastest type";
  }
}

// Traces without models may draw those of the cluster.
TEST(MixedWorld, OtherTracesCanDrawItsModels) {
  ScenarioOptions options;
  options.trace = "synthetic:habits";
  options.generate_jobs = 300;
  options.cluster = "mixed-9";
  options.models.set("draw", "true", "test");
  const Scenario scenario = load_scenario(options);
  for (const Job& job : scenario.trace.jobs) {
    ASSERT_TRUE(scenario.cluster.models.contains(job.model)) << job.model;
  }
}

}  // namespace
}  // namespace yard
