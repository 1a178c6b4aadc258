// Throughput by all-reduce for models of a cluster's file: the tables against the closed forms,
// cell by cell.
#include <gtest/gtest.h>

#include "env/sim/speed/cluster_models.h"
#include "env/trace/generators/rings.h"
#include "tests/support/exchange_scene.h"

namespace yard::testing {
namespace {

std::vector<Job> jobs_with(const std::string& model, int32_t gpus,
                           Pattern pattern = Pattern::kRing) {
  std::vector<Job> jobs = jobs_of({{0, gpus, 100}});
  jobs[0].model = model;
  jobs[0].pattern = pattern;
  return jobs;
}

constexpr Pattern kPatterns[] = {Pattern::kNone, Pattern::kRing, Pattern::kTree,
                                 Pattern::kHierarchical};

TEST(AllReduces, EveryCellMatchesTheClosedForm) {
  const ClusterSpec cluster = load_cluster("rings-8");
  const TierLinks links = links_of(cluster);
  const Link inside = links[static_cast<size_t>(Tier::kNode)];
  const Link across = links[static_cast<size_t>(Tier::kRack)];
  for (const auto& [name, model] : cluster.models) {
    const ExchangeScene rings(cluster, jobs_with(name, 8));
    const SpeedColumns& c = rings.fixed().speed;
    const int32_t job_class = rings.first_class();
    const double bytes = model.gradient_mib * 1024 * 1024;
    for (const Pattern by : kPatterns) {
      const Pattern pattern = by == Pattern::kNone ? Pattern::kRing : by;
      for (int32_t gpus = 2; gpus <= 8; ++gpus) {
        for (const int32_t nodes : {1, 2, 3, 4, 5}) {
          if (nodes > gpus) continue;
          const Tier tier = nodes > 1 ? Tier::kRack : Tier::kNode;
          const double exchange = gradient_exchange_s(pattern, nodes, (gpus + nodes - 1) / nodes,
                                                      bytes, inside, across);
          const double iteration = 1e-3 * model.step_ms + exchange;
          const double speed =
              speed_of(c, job_class, 0, gpus, tier, nodes, 0, by) * c.class_reference[job_class];
          EXPECT_NEAR(speed, gpus / iteration, 1e-9 * speed) << name << " " << gpus << " " << nodes;
          EXPECT_NEAR(exchange_share(c, job_class, 0, gpus, tier, nodes, 0, by),
                      exchange / iteration, 1e-9);
          const double each = nodes < 2                   ? 0
                              : pattern == Pattern::kTree ? 2 * bytes
                                                          : ring_bytes_per_link(nodes, bytes);
          EXPECT_NEAR(
              static_cast<double>(link_bytes_per_s(c, job_class, 0, gpus, tier, nodes, 0, by)),
              each / iteration, 1 + 1e-9 * each / iteration);
        }
      }
    }
    // Throughput is 1 for the requested GPUs, the job's own pattern and the fewest nodes.
    EXPECT_DOUBLE_EQ(speed_of(c, job_class, 0, 8, Tier::kRack, 2), 1);
  }
}

// Small gradients are latency-bound: a tree takes the fewest steps. Large ones are bandwidth-bound.
TEST(AllReduces, BestAlgorithmDependsOnTheSize) {
  const ClusterSpec cluster = load_cluster("rings-8");
  const auto speed = [&](const char* model, int32_t nodes, Pattern by) {
    const ExchangeScene rings(cluster, jobs_with(model, 8));
    return speed_of(rings.fixed().speed, rings.first_class(), 0, 8, Tier::kRack, nodes, 0, by);
  };
  EXPECT_GT(speed("actor", 8, Pattern::kTree), 1.1 * speed("actor", 8, Pattern::kRing));
  EXPECT_GT(speed("actor", 2, Pattern::kHierarchical), speed("actor", 2, Pattern::kTree));
  EXPECT_GT(speed("vgg", 2, Pattern::kHierarchical), 1.1 * speed("vgg", 2, Pattern::kRing));
  EXPECT_GT(speed("vgg", 8, Pattern::kRing), 1.5 * speed("vgg", 8, Pattern::kTree));
}

TEST(AllReduces, OnlySomeJobsHaveAChoice) {
  ClusterSpec cluster = load_cluster("rings-8");
  cluster.models["untold"] = {.spread = 0.5};
  const auto chooses = [&](const std::vector<Job>& jobs) {
    const ExchangeScene rings(cluster, jobs);
    return may_choose_all_reduce(rings.fixed().speed, rings.first_class());
  };
  EXPECT_TRUE(chooses(jobs_with("bert", 4)));
  EXPECT_TRUE(chooses(jobs_with("bert", 4, Pattern::kNone)));
  EXPECT_TRUE(chooses(jobs_with("bert", 4, Pattern::kTree)));
  EXPECT_FALSE(chooses(jobs_with("bert", 4, Pattern::kPipeline)));
  EXPECT_FALSE(chooses(jobs_with("bert", 4, Pattern::kParameterServer)));
  EXPECT_FALSE(chooses(jobs_with("untold", 4))) << "its exchange is not given";
  EXPECT_FALSE(chooses(jobs_with("nobody", 4)));
}

// The exchange time of a measured model is scaled by the ratio of the closed forms, relative to the
// all-reduce with which it was measured.
TEST(AllReduces, MeasuredModelIsScaledByTheRatio) {
  Profiles profiles;
  ModelProfile& net = profiles.profile("file", "net", BatchScaling::kStrong);
  net.gradient_bytes = 4e8;
  net.runs = {{"v100", {1}, 32, 0.4, -1}, {"v100", {1, 1, 1, 1}, 8, 0.3, 0.2}};
  const ClusterSpec cluster = load_cluster("rings-8");
  const TierLinks links = links_of(cluster);
  SpeedTable table(profiles,
                   {.types = cluster.types, .max_gpus = 4, .node_gpus = 4, .links = links});
  const int32_t job_class = table.class_of("net", 32, 4);
  const double before = speed_of(table.columns(), job_class, 0, 4, Tier::kRack, 4);
  table.allow_all_reduce_choice(job_class);
  const SpeedColumns c = table.columns();
  const auto speed = [&](Pattern by) {
    return speed_of(c, job_class, 0, 4, Tier::kRack, 4, 0, by);
  };
  EXPECT_EQ(speed(Pattern::kNone), before);
  EXPECT_EQ(speed(Pattern::kHierarchical), before) << "an unset pattern counts as hierarchical";
  EXPECT_EQ(speed(Pattern::kRing), before) << "one GPU a node";
  const Link across = links[static_cast<size_t>(Tier::kRack)];
  const double longer = tree_all_reduce_s(4, 4e8, across) / ring_all_reduce_s(4, 4e8, across);
  const double share = exchange_share(c, job_class, 0, 4, Tier::kRack, 4);
  // The time of an iteration is convex in the time of its exchange.
  EXPECT_GT(longer, 2);
  EXPECT_LE(before / speed(Pattern::kTree), longer);
  EXPECT_GE(before / speed(Pattern::kTree), (1 + share * (longer - 1)) * (1 - 1e-9));
}

}  // namespace
}  // namespace yard::testing
