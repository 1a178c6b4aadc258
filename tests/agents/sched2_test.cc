// Checks that the observations of the agent sched2 show locality, and those of its ablation do not.
#include <gtest/gtest.h>

#include <set>

#include "agents/rollout/vector_env.h"
#include "agents/train/trainable_agent.h"
#include "tests/agents/problems.h"
#include "tests/support/futures.h"
#include "tests/support/worlds.h"

namespace yard::testing {
namespace {

constexpr size_t kSensitivity = 4, kRate = 5, kNodesFeature = 6, kBeyond = 7, kLeftOver = 8,
                 kStrict = 9, kCompact = 10, kLoose = 11;                        // of a row
constexpr size_t kLargest = 1, kFragmented = 2, kLocalJobs = 6, kNodesFree = 7;  // of the cluster

struct ShownFeatures {
  std::set<size_t> row, cluster;  // features that were not 0 at some time
  int offered = 0, fewer = 0;     // legal rows; those on fewer nodes than a stricter one
};

// Collects what is shown under random actions, of jobs whose throughput depends on placement.
ShownFeatures shown_features(const std::string& locality) {
  ShownFeatures out;
  FutureOptions options{.models = true, .world = {}};
  options.world.jobs = 80;
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    const ForkableScene random_scene(forkable_world(Rng(seed), options));
    Settings settings;
    settings.set("locality", locality, "test");
    const auto worlds =
        TrainableAgent("sched2", settings)
            .make_environments(
                {{random_scene.scene().fixed(), &random_scene.scene().workload(), 1}},
                {.worlds = 1, .episode_jobs = 60, .wait_at_end = true});
    const ObservationShape shape = worlds->shape();
    worlds->reset();
    Rng rng(seed);
    while (!worlds->is_done(0)) {
      const Observations observations = worlds->observations();
      for (size_t c = 0; c < static_cast<size_t>(shape.cluster_features); ++c) {
        if (observations.cluster[c] != 0) out.cluster.insert(c);
      }
      float strict = 0;  // nodes of the same job at a stricter locality
      for (int32_t r = 0; r < observations.rows[0]; ++r) {
        const float* f = observations.jobs.data() + r * shape.row_features;
        if (r % 3 == 0) strict = 0;
        if (observations.mask[static_cast<size_t>(r)] == 0) continue;
        for (size_t k = 0; k < static_cast<size_t>(shape.row_features); ++k) {
          if (f[k] != 0) out.row.insert(k);
        }
        ++out.offered;
        out.fewer += f[kNodesFeature] < strict;
        strict = f[kNodesFeature];
      }
      std::vector<int32_t> legal;
      for (int32_t a = 0; a < shape.actions(); ++a) {
        if (observations.mask[static_cast<size_t>(a)] != 0) legal.push_back(a);
      }
      worlds->step(std::vector{legal[rng.below(static_cast<uint32_t>(legal.size()))]});
    }
  }
  return out;
}

TEST(Sched2, ObservesLocalityOfJobsAndPlacements) {
  const ShownFeatures seen = shown_features("true");
  EXPECT_GT(seen.offered, 200);
  EXPECT_EQ(seen.fewer, 0);
  for (const size_t k :
       {kSensitivity, kRate, kNodesFeature, kBeyond, kLeftOver, kStrict, kCompact, kLoose}) {
    EXPECT_TRUE(seen.row.contains(k)) << k;
  }
  for (const size_t k : {kLargest, kFragmented, kLocalJobs, kNodesFree}) {
    EXPECT_TRUE(seen.cluster.contains(k)) << k;
  }
}

TEST(Sched2, OmitsLocalityFeaturesIfDisabled) {
  const ShownFeatures seen = shown_features("false");
  EXPECT_GT(seen.offered, 200);
  for (const size_t k : {kSensitivity, kRate, kNodesFeature, kBeyond, kLeftOver, kStrict, kLoose}) {
    EXPECT_FALSE(seen.row.contains(k)) << k;
  }
  for (const size_t k : {kLargest, kFragmented, kLocalJobs, kNodesFree, kNodesFree + 3}) {
    EXPECT_FALSE(seen.cluster.contains(k)) << k;
  }
}

}  // namespace
}  // namespace yard::testing
