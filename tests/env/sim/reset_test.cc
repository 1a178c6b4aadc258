// A reset world does not depend on the previous bytes of its block: all states which follow are the
// same.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "env/sim/rules/digest.h"
#include "tests/support/futures.h"

namespace yard::testing {
namespace {

TEST(Reset, DoesNotDependOnOldMemory) {
  const auto policy = make_policy("srtf placement=best-fit");
  int64_t events = 0;
  for (uint64_t trial = 0; trial < 24; ++trial) {
    const ForkableWorld told = forkable_world(Rng(71).split(trial), {.tenants = trial % 2 == 1,
                                                                     .overload = trial % 3 == 1,
                                                                     .models = trial % 4 > 1,
                                                                     .world = {}});
    const ForkableScene scene(told);
    SceneRunner fresh(scene.scene(), *policy), used(scene.scene(), *policy);
    // As integers or floating-point numbers of any width these bytes are large and positive.
    for (std::byte& byte : used.world().raw_state()) byte = std::byte{0x5A};
    used.world().reset(0, scene.scene().size());
    while (fresh.step()) {
      ASSERT_TRUE(used.step()) << "trial " << trial;
      ASSERT_EQ(digest(scene.scene().fixed(), fresh.state()),
                digest(scene.scene().fixed(), used.state()))
          << "trial " << trial << ", event " << fresh.events();
      ASSERT_EQ(*fresh.state().next_rank, *used.state().next_rank);
      ++events;
    }
    ASSERT_FALSE(fresh.failed());
    EXPECT_FALSE(used.step());
  }
  EXPECT_GT(events, 1000);
}

// Starts jobs which fit after each event. Returns a digest of each state.
std::vector<uint64_t> play(const Scene& scene, World& world, int events) {
  std::vector<uint64_t> digests;
  std::vector<Piece> pieces(static_cast<size_t>(scene.fixed().spec.num_nodes));
  while (events-- > 0 && !all_done(world.state()) && world.advance(scene.truth())) {
    SimState& s = world.state();
    const View view(scene.fixed(), s, InformationLevel::kBlind);
    for (int32_t slot = s.head->queue_head; slot != kNone;) {
      const int32_t next = s.queue_next[slot];
      const int32_t n = place(view, PlacementRule::kFirstFit, slot, pieces.data());
      if (n > 0) start(scene.fixed(), s, slot, pieces.data(), n);
      slot = next;
    }
    digests.push_back(digest(scene.fixed(), s));
  }
  return digests;
}

TEST(Reset, TruncatedEpisodeLeavesNothing) {
  const Scene scene("3x4", random_jobs(Rng(72), {.count = 60, .mean_gap_s = 60}));
  World fresh(scene.fixed(), scene.size()), used(scene.fixed(), scene.size());
  fresh.reset(0, scene.size());
  const std::vector<uint64_t> expected = play(scene, fresh, 1000);
  EXPECT_GT(expected.size(), 100u);
  for (const int events : {1, 17, 50}) {
    used.reset(0, scene.size());
    play(scene, used, events);
    EXPECT_GT(used.state().head->live, 0);
    used.reset(0, scene.size());
    EXPECT_EQ(play(scene, used, 1000), expected) << "after " << events;
  }
}

TEST(Reset, StartsAtTheFirstJobOrAtZero) {
  const Scene scene("1x1", jobs_of({{7, 1, 1}, {9, 1, 1}}));
  World world(scene.fixed(), 2);
  world.reset(0, 2);
  EXPECT_EQ(world.state().head->now_us, 7 * kSecond);
  world.reset(1, 2);
  EXPECT_EQ(world.state().head->now_us, 9 * kSecond);
  world.reset(2, 2);
  EXPECT_EQ(world.state().head->now_us, 0);
}

}  // namespace
}  // namespace yard::testing
