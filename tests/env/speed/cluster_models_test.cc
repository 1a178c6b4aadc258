// Models described in a cluster's file, as they appear in the speed tables.
#include "env/sim/speed/cluster_models.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "env/sim/speed/table.h"

namespace yard {
namespace {

GpuType gpu_type(const char* name, double speed) {
  GpuType type;
  type.name = name;
  type.speed = speed;
  return type;
}

ClusterSpec cluster() {
  ClusterSpec spec;
  spec.types = {gpu_type("V100", 1), gpu_type("k80", 0.25)};
  spec.types[1].speed_of_model["net"] = 0.1;
  Node node;
  node.gpus = 4;
  spec.nodes.assign(3, node);
  spec.models["net"] = {.spread = 0.3, .sensitivity = 0.5, .pressure = 2};
  spec.models["plain"] = {};
  spec.models["other"] = {.spread = 1, .sensitivity = 1, .pressure = 0.5};
  return spec;
}

SpeedOptions options_for(const ClusterSpec& spec, int32_t max_gpus) {
  SpeedOptions options;
  options.types = spec.types;
  options.max_gpus = max_gpus;
  options.node_gpus = 4;
  return options;
}

struct Fixture {
  explicit Fixture(int32_t max_gpus) {
    add_profiles_from_cluster_spec(spec, max_gpus, profiles);
    table.emplace(profiles, options_for(spec, max_gpus));
  }
  double speed(const char* model, int32_t type, int32_t gpus, int32_t nodes) {
    const int32_t job_class = table->class_of(model, 0, gpus);
    EXPECT_GT(job_class, 0);
    const Tier tier = nodes > 1 ? Tier::kRack : Tier::kNode;
    return speed_of(table->columns(), job_class, type, gpus, tier, nodes);
  }
  double pair_speed(const char* model, const char* other, int32_t type) {
    const int32_t one = table->class_of(model, 0, 1), two = table->class_of(other, 0, 1);
    return pair_rate(table->columns(), one, two, type);
  }
  ClusterSpec spec = cluster();
  Profiles profiles;
  std::optional<SpeedTable> table;
};

TEST(DeclaredModels, PlacementAndTypeSpeedsMatchTheFile) {
  Fixture f(40);
  for (int32_t gpus = 1; gpus <= 40; ++gpus) {
    const int32_t needed = (gpus + 3) / 4;
    EXPECT_DOUBLE_EQ(f.speed("net", 0, gpus, needed), 1) << gpus;
    EXPECT_DOUBLE_EQ(f.speed("net", 1, gpus, needed), 0.1) << gpus;
    EXPECT_DOUBLE_EQ(f.speed("plain", 1, gpus, needed), 0.25) << gpus;
  }
  for (const int32_t gpus : {2, 3, 4, 7, 8}) {
    for (int32_t nodes = (gpus + 3) / 4 + 1; nodes <= gpus; ++nodes) {
      EXPECT_DOUBLE_EQ(f.speed("net", 0, gpus, nodes), 0.3) << gpus << " on " << nodes;
      EXPECT_DOUBLE_EQ(f.speed("net", 1, gpus, nodes), 0.03) << gpus << " on " << nodes;
      EXPECT_DOUBLE_EQ(f.speed("plain", 0, gpus, nodes), 1) << gpus << " on " << nodes;
    }
  }
}

TEST(DeclaredModels, PairSpeedsMatchTheFile) {
  Fixture f(4);
  for (const int32_t type : {0, 1}) {
    EXPECT_DOUBLE_EQ(f.pair_speed("net", "net", type), 1 / (1 + 0.5 * 2));
    EXPECT_DOUBLE_EQ(f.pair_speed("net", "other", type), 1 / (1 + 0.5 * 0.5));
    EXPECT_DOUBLE_EQ(f.pair_speed("other", "net", type), 1 / (1 + 1.0 * 2));
    EXPECT_DOUBLE_EQ(f.pair_speed("plain", "net", type), 1);
    EXPECT_DOUBLE_EQ(f.pair_speed("net", "plain", type), 1);
  }
}

// Measurements of a model take precedence over the cluster's file.
TEST(DeclaredModels, MeasurementsTakePrecedence) {
  Profiles profiles;
  profiles.profile("file", "Net", BatchScaling::kWeak).runs = {{"v100", {1}, 1, 1, -1},
                                                               {"k80", {1}, 1, 2, -1}};
  add_profiles_from_cluster_spec(cluster(), 2, profiles);
  SpeedTable table(profiles, options_for(cluster(), 2));
  const int32_t job_class = table.class_of("net", 0, 1);
  EXPECT_DOUBLE_EQ(speed_of(table.columns(), job_class, 1, 1, Tier::kNode, 1), 0.5);
}

}  // namespace
}  // namespace yard
