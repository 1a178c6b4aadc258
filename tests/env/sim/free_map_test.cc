// The bitmaps of nodes by free GPUs against a scan of all nodes.
#include "env/sim/state/free_map.h"

#include <gtest/gtest.h>

#include "env/sim/rules/rules.h"
#include "tests/support/scene.h"

namespace yard::testing {
namespace {

int32_t first_by_walk(const SimModel& f, const SimState& s, int32_t count, int32_t from) {
  for (int32_t m = from; m < f.spec.num_nodes; ++m) {
    if (s.free_count[m] == count) return m;
  }
  return kNone;
}

// One word, two words, and enough nodes for two words of summary, never a multiple of 64.
class FreeMapOfSize : public ::testing::TestWithParam<int> {};

TEST_P(FreeMapOfSize, MatchesALinearScan) {
  const int nodes = GetParam();
  const Scene scene(std::to_string(nodes) + "x4", {});
  World world(scene.fixed(), 1);
  SimState& s = world.state();
  const FreeNodeIndex map(scene.fixed().spec);
  Rng rng = Rng(1).split(static_cast<uint64_t>(nodes));
  const auto any_node = [&] {
    // Half of the nodes are near the ends of words, where shifts can go wrong.
    const auto n = static_cast<int32_t>(rng.below(static_cast<uint32_t>(nodes)));
    return rng.below(2) == 0 ? n : std::min(n / 64 * 64 + (n % 2 == 0 ? 0 : 63), nodes - 1);
  };
  for (int round = 0; round < 3; ++round) {
    // Few nodes of a kind, so that most words are empty; then more and more.
    const int changes = nodes / (round == 0 ? 50 : 4) + 3;
    for (int i = 0; i < changes; ++i) {
      set_free_gpus(scene.fixed(), s, any_node(),
                    mask_of_low_bits(static_cast<int32_t>(rng.below(5))));
    }
    for (int i = 0; i < 2000; ++i) {
      const auto count = static_cast<int32_t>(rng.below(5));
      const int32_t from = any_node();
      ASSERT_EQ(map.first_node_with_exactly(s, count, from),
                first_by_walk(scene.fixed(), s, count, from))
          << count << " free from node " << from;
    }
    for (int32_t count = 0; count <= 4; ++count) {
      int32_t at_least = kNone;
      for (int32_t m = nodes - 1; m >= 0; --m) at_least = s.free_count[m] >= count ? m : at_least;
      ASSERT_EQ(map.first_node_with_free_between(s, count, 4), at_least);
      ASSERT_EQ(map.first_node_with_free_between(s, count, count),
                map.first_node_with_exactly(s, count));
      ASSERT_EQ(map.first_node_with_exactly(s, count), first_by_walk(scene.fixed(), s, count, 0));
      ASSERT_EQ(map.first_node_with_exactly(s, count, nodes), kNone);
    }
  }
  // The only free GPUs are at the end, several words of summary away.
  for (int32_t m = 0; m < nodes; ++m)
    set_free_gpus(scene.fixed(), s, m, m == nodes - 1 ? 0b11u : 0);
  EXPECT_EQ(map.first_node_with_free_between(s, 1, 4), nodes - 1);
  EXPECT_EQ(map.first_node_with_free_between(s, 3, 4), kNone);
  int32_t free = 0;
  for (int32_t m = 0; m < nodes; ++m) free += s.free_count[m];
  EXPECT_EQ(s.head->free_gpus, free);
}

INSTANTIATE_TEST_SUITE_P(Nodes, FreeMapOfSize,
                         ::testing::Values(1, 63, 64, 65, 130, 4095, 4097, 9001));

TEST(FreeNodeIndex, NodeOf64GpusIsOneWord) {
  const Scene scene("2x64", {});
  World world(scene.fixed(), 1);
  const FreeNodeIndex map(scene.fixed().spec);
  EXPECT_EQ(world.state().free_mask[0], ~uint64_t{0});
  EXPECT_EQ(map.first_node_with_exactly(world.state(), 64), 0);
  set_free_gpus(scene.fixed(), world.state(), 0, 0);
  EXPECT_EQ(map.first_node_with_exactly(world.state(), 64), 1);
  EXPECT_EQ(map.first_node_with_exactly(world.state(), 0), 0);
}

}  // namespace
}  // namespace yard::testing
