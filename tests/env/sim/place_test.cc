// Placements of plain jobs in random states: each one found is legal, none is missed, and
// first-fit, best-fit and consolidate match their definitions in placement_rules.h.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "env/cluster/parse.h"
#include "env/sim/placement/placement_rules.h"
#include "env/sim/rules/rules.h"
#include "tests/support/futures.h"

namespace yard::testing {
namespace {

class Placements : public ::testing::Test {
 protected:
  // Returns the fewest nodes which hold `gpus`, given each node's number of GPUs.
  static int32_t fewest(std::vector<int32_t> counts, int32_t gpus) {
    std::sort(counts.begin(), counts.end(), std::greater<>());
    int32_t n = 0;
    for (size_t i = 0; i < counts.size() && gpus > 0; ++i, ++n) gpus -= counts[i];
    return n;
  }
};

TEST_F(Placements, MatchTheirDefinitions) {
  const Scene scene("3x4+2x8+4x1+1x2", jobs_of({{0, 1, 10}}));
  const SimModel& f = scene.fixed();
  World world(f, 1);
  world.reset(0, 1);
  ASSERT_TRUE(world.advance(scene.truth()));
  SimState& s = world.state();
  const View view(world.fixed(), s, InformationLevel::kBlind);
  Rng rng(5);
  std::vector<int32_t> sizes(f.spec.node_gpus, f.spec.node_gpus + f.spec.num_nodes);
  int refused = 0, spread = 0;
  for (int round = 0; round < 4000; ++round) {
    std::vector<int32_t> free;
    for (int32_t m = 0; m < f.spec.num_nodes; ++m) {
      uint64_t mask = mask_of_low_bits(f.spec.node_gpus[m]);
      if (rng.below(3) != 0) mask &= rng.next();
      set_free_gpus(f, s, m, mask);
      free.push_back(count_bits(mask));
    }
    const auto gpus = static_cast<int32_t>(1 + rng.below(34));
    s.gpus[0] = gpus;
    std::vector<Piece> pieces(static_cast<size_t>(f.spec.num_nodes));
    const int32_t min_nodes_free = fewest(free, gpus), min_nodes_empty = fewest(sizes, gpus);
    for (const PlacementRule how :
         {PlacementRule::kFirstFit, PlacementRule::kBestFit, PlacementRule::kConsolidate}) {
      const int32_t n = place(view, how, 0, pieces.data());
      ASSERT_EQ(can_place(view, how, 0), n > 0);
      const bool enough = gpus <= view.free_gpus();
      const bool waits = how == PlacementRule::kConsolidate && min_nodes_free > min_nodes_empty;
      ASSERT_EQ(n > 0, enough && !waits) << gpus << " GPUs, round " << round;
      refused += enough && waits;
      if (n == 0) continue;
      ASSERT_TRUE(legal_start(f, s, 0, pieces.data(), n));
      spread += n > 1;
      const auto whole = [&](int32_t m) { return free[static_cast<size_t>(m)] >= gpus; };
      if (how == PlacementRule::kFirstFit) {
        int32_t first = 0;
        while (first < f.spec.num_nodes && !whole(first)) ++first;
        if (first < f.spec.num_nodes) {
          ASSERT_EQ(n, 1);
          ASSERT_EQ(pieces[0].node, first);
        }
        for (int32_t i = 1; i < n; ++i) {
          ASSERT_GT(pieces[static_cast<size_t>(i)].node, pieces[static_cast<size_t>(i - 1)].node);
        }
      } else {
        ASSERT_EQ(n, min_nodes_free);
        // The last piece is on the tightest of the nodes not taken by earlier pieces.
        const Piece& last = pieces[static_cast<size_t>(n - 1)];
        for (int32_t m = 0; m < f.spec.num_nodes; ++m) {
          const bool taken = std::any_of(pieces.begin(), pieces.begin() + n - 1,
                                         [&](const Piece& p) { return p.node == m; });
          const int32_t here = free[static_cast<size_t>(m)];
          const int32_t there = free[static_cast<size_t>(last.node)];
          if (taken || here < last.gpus) continue;
          ASSERT_TRUE(there < here || (there == here && last.node <= m));
        }
      }
    }
  }
  EXPECT_GT(refused, 100);
  EXPECT_GT(spread, 1000);
}

TEST(CanPlace, CountsAnyNumberOfNodesOfOneType) {
  ClusterSpec cluster = load_cluster("3000x1:v100");
  cluster.one_type = true;
  const Scene scene(cluster, jobs_of({{0, 3000, 10}}));
  World world(scene.fixed(), 1);
  world.reset(0, 1);
  ASSERT_TRUE(world.advance(scene.truth()));
  const View view(scene.fixed(), world.state(), InformationLevel::kBlind);
  EXPECT_TRUE(can_place(view, PlacementRule::kConsolidate, 0));
  EXPECT_TRUE(can_place(view, PlacementRule::kFirstFit, 0));
}

TEST(CanPlace, AgreesWithPlace) {
  const auto policy = make_policy("las");
  int64_t found = 0, missed = 0;
  for (uint64_t trial = 0; trial < 20; ++trial) {
    ForkableWorld forkable =
        forkable_world(Rng(95).split(trial), {.tenants = trial % 2 == 0, .world = {}});
    forkable.world.cluster.one_type = trial % 4 == 1;
    const ForkableScene scene(forkable);
    const SimModel& f = scene.scene().fixed();
    std::vector<Piece> pieces(
        static_cast<size_t>(f.spec.num_nodes * std::max(f.jobs.shapes.max_groups, 1)));
    SceneRunner runner(scene.scene(), *policy);
    while (runner.advance()) {
      const View& view = runner.view();
      for (int32_t slot = view.queue_head(); slot != kNone; slot = view.queue_next(slot)) {
        for (int how = 0; how < 3; ++how) {
          const auto placement = static_cast<PlacementRule>(how);
          const int32_t n = place(view, placement, slot, pieces.data());
          ASSERT_EQ(can_place(view, placement, slot), n > 0);
          if (n > 0) {
            ASSERT_TRUE(legal_start(f, runner.state(), slot, pieces.data(), n));
          }
          ++(n > 0 ? found : missed);
        }
      }
      ASSERT_TRUE(runner.decide());
    }
  }
  EXPECT_GT(found, 1000);
  EXPECT_GT(missed, 1000);
}

}  // namespace
}  // namespace yard::testing
