// Sums of GPUs that would be free: the smallest number that one of the fewest nodes must supply.
#include "policies/freed_gpus.h"

#include <gtest/gtest.h>

#include "tests/support/scene.h"

namespace yard::testing {
namespace {

int32_t least(const std::string& cluster, int32_t gpus) {
  const Scene scene(cluster, jobs_of({{0, 1, 1}}));
  return FreedGpus::min_gpus_per_node_on_fewest_nodes(scene.fixed().spec, gpus);
}

TEST(FreedGpus, WholeNodesLeaveTheRemainderToOne) {
  EXPECT_EQ(least("3x8", 9), 1);
  EXPECT_EQ(least("3x8", 12), 4);
  EXPECT_EQ(least("3x8", 16), 8);
  EXPECT_EQ(least("3x8", 23), 7);
  EXPECT_EQ(least("3x8", 24), 8) << "all nodes in full";
  EXPECT_EQ(least("2x3", 4), 1);
}

TEST(FreedGpus, SharesMayBeOneIfSmallerNodesAreNeeded) {
  EXPECT_EQ(least("2x8+2x4", 16), 8);
  EXPECT_EQ(least("2x8+2x4", 17), 1);
  EXPECT_EQ(least("2x8+2x4", 20), 1);
}

}  // namespace
}  // namespace yard::testing
