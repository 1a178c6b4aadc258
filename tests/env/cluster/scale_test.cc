// Clusters scaled to more or fewer nodes of the same kinds.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "env/base/core/error.h"
#include "env/cluster/spec.h"

namespace yard {
namespace {

std::map<std::string, int> nodes_of(const ClusterSpec& spec) {
  std::map<std::string, int> out;
  for (const Node& node : spec.nodes) ++out[spec.types[static_cast<size_t>(node.type)].name];
  return out;
}

TEST(ScaledCluster, EveryKindOfNodeIsScaled) {
  const ClusterSpec whole = load_cluster("4x8:v100+3x8:p100+1x8:k80");
  EXPECT_EQ(nodes_of(scale_node_counts(whole, 0.5)),
            (std::map<std::string, int>{{"v100", 2}, {"p100", 2}, {"k80", 1}}));
  const ClusterSpec twice = scale_node_counts(whole, 2);
  EXPECT_EQ(nodes_of(twice), (std::map<std::string, int>{{"v100", 8}, {"p100", 6}, {"k80", 2}}));
  EXPECT_EQ(twice.text, whole.text + " x 2");
  std::set<std::string> names;
  for (const Node& node : twice.nodes) EXPECT_TRUE(names.insert(node.name).second) << node.name;
  EXPECT_EQ(scale_node_counts(whole, 1).text, whole.text);
  EXPECT_EQ(scale_node_counts(load_cluster("9x8"), 0.5).total_gpus(), 40);
}

TEST(ScaledCluster, RejectsUnscalableClusters) {
  ClusterSpec owned = load_cluster("2x8");
  owned.tenants.resize(1);
  EXPECT_THROW(scale_node_counts(owned, 2), InputError);
  EXPECT_THROW(scale_node_counts(load_cluster("100000x8"), 1000), InputError);
}

}  // namespace
}  // namespace yard
