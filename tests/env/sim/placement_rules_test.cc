// Placements against scans of all nodes, on clusters whose nodes differ.
#include "env/sim/placement/placement_rules.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "env/sim/rules/rules.h"
#include "tests/support/scene.h"

namespace yard::testing {
namespace {

// Returns the fewest nodes which hold `gpus`: the fullest first.
int32_t fewest_by_sort(std::vector<int32_t> free, int32_t gpus) {
  std::sort(free.rbegin(), free.rend());
  int32_t n = 0;
  for (; gpus > 0; ++n) gpus -= free[static_cast<size_t>(n)];
  return n;
}

class EveryPlacement : public ::testing::TestWithParam<PlacementRule> {};

TEST_P(EveryPlacement, KeepsItsGuaranteesOnRandomStates) {
  const PlacementRule placement = GetParam();
  const Scene scene("5x8+3x4+2x2", {});
  World world(scene.fixed(), 1);
  SimState& s = world.state();
  const SpecColumns& spec = scene.fixed().spec;
  const View view(scene.fixed(), s, InformationLevel::kBlind);
  const std::vector<int32_t> whole(spec.node_gpus, spec.node_gpus + spec.num_nodes);
  std::vector<Piece> pieces(static_cast<size_t>(spec.num_nodes));
  Rng rng(3);
  int refused = 0, spread = 0;
  for (int i = 0; i < 5000; ++i) {
    for (int32_t m = 0; m < spec.num_nodes; ++m) {
      const uint64_t mask = rng.next64() & mask_of_low_bits(spec.node_gpus[m]);
      set_free_gpus(scene.fixed(), s, m,
                    rng.below(3) == 0 ? mask_of_low_bits(spec.node_gpus[m]) : mask);
    }
    const std::vector<int32_t> free(s.free_count, s.free_count + spec.num_nodes);
    const int32_t sum = std::accumulate(free.begin(), free.end(), 0);
    const int32_t largest = *std::max_element(free.begin(), free.end());
    const auto gpus = static_cast<int32_t>(1 + rng.below(rng.below(2) == 0 ? 8 : 56));
    const int32_t n = place_gpus(view, placement, gpus, pieces.data());
    EXPECT_EQ(n > 0, can_place_gpus(view, placement, gpus));
    if (gpus > sum) {
      ASSERT_EQ(n, 0) << "more than the cluster has";
      continue;
    }
    const int32_t fewest = fewest_by_sort(free, gpus);
    if (n == 0) {
      ASSERT_EQ(placement, PlacementRule::kConsolidate);
      ASSERT_GT(fewest, fewest_by_sort(whole, gpus)) << "an empty cluster has no better placement";
      ++refused;
      continue;
    }
    int32_t given = 0;
    std::vector<char> named(free.size(), 0);
    for (int32_t p = 0; p < n; ++p) {
      const Piece& piece = pieces[static_cast<size_t>(p)];
      ASSERT_GE(piece.gpus, 1);
      ASSERT_LE(piece.gpus, free[static_cast<size_t>(piece.node)]);
      ASSERT_FALSE(named[static_cast<size_t>(piece.node)]++) << "a node named twice";
      given += piece.gpus;
    }
    ASSERT_EQ(given, gpus);
    if (placement != PlacementRule::kFirstFit) {
      ASSERT_EQ(n, fewest);
    }
    if (placement == PlacementRule::kConsolidate) {
      ASSERT_LE(n, fewest_by_sort(whole, gpus));
    }
    if (largest >= gpus) {
      ASSERT_EQ(n, 1) << "one node would do";
      int32_t want = kNone;
      for (int32_t m = 0; m < spec.num_nodes; ++m) {
        const int32_t f = free[static_cast<size_t>(m)];
        if (f < gpus) continue;
        if (want == kNone ||
            (placement != PlacementRule::kFirstFit && f < free[static_cast<size_t>(want)])) {
          want = m;
        }
      }
      ASSERT_EQ(pieces[0].node, want);
    } else {
      ++spread;
    }
  }
  EXPECT_GT(spread, 100);
  if (placement == PlacementRule::kConsolidate) {
    EXPECT_GT(refused, 100);
  }
}

INSTANTIATE_TEST_SUITE_P(Placements, EveryPlacement,
                         ::testing::Values(PlacementRule::kFirstFit, PlacementRule::kBestFit,
                                           PlacementRule::kConsolidate),
                         [](const auto& info) {
                           std::string name = kPlacementRuleNames[static_cast<size_t>(info.param)];
                           name.erase(std::remove(name.begin(), name.end(), '-'), name.end());
                           return name;
                         });

TEST(PlacementRule, LastPieceUsesTheTightestFit) {
  const Scene scene("3x8+1x4", {});
  World world(scene.fixed(), 1);
  const View view(scene.fixed(), world.state(), InformationLevel::kBlind);
  std::vector<Piece> pieces(4);
  ASSERT_EQ(place_gpus(view, PlacementRule::kBestFit, 11, pieces.data()), 2);
  EXPECT_EQ(pieces[0], (Piece{0, 8}));
  EXPECT_EQ(pieces[1], (Piece{3, 3})) << "the node of 4, not another of 8";
}

TEST(PlacementRule, ConsolidateRequiresNoMoreThanAnEmptyClusterHas) {
  // One node of 8 and four of 4: 16 GPUs need at least three nodes.
  const Scene scene("1x8+4x4", {});
  World world(scene.fixed(), 1);
  const View view(scene.fixed(), world.state(), InformationLevel::kBlind);
  std::vector<Piece> pieces(5);
  EXPECT_EQ(min_nodes_in_empty_cluster(scene.fixed().spec, 16), 3);
  EXPECT_EQ(min_nodes_in_empty_cluster(scene.fixed().spec, 24), 5);
  EXPECT_EQ(place_gpus(view, PlacementRule::kConsolidate, 16, pieces.data()), 3);
  EXPECT_EQ(place_gpus(view, PlacementRule::kConsolidate, 24, pieces.data()), 5);
}

}  // namespace
}  // namespace yard::testing
