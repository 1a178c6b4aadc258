// A world begins as if its block had never been used: whatever bytes lay there, every state that
// follows is the same.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>

#include "env/sim/digest.h"
#include "tests/support/futures.h"

namespace yard::testing {
namespace {

TEST(Reset, RubbishInTheBlockChangesNothing) {
  const auto policy = make_policy("srtf placement=best-fit");
  int64_t events = 0;
  for (uint64_t trial = 0; trial < 24; ++trial) {
    const ToldWorld told = told_world(Rng(71).split(trial), {.tenants = trial % 2 == 1,
                                                             .overload = trial % 3 == 1,
                                                             .models = trial % 4 > 1,
                                                             .world = {}});
    const ToldScene scene(told);
    Player fresh(scene.scene(), *policy), used(scene.scene(), *policy);
    // As numbers of all kinds these bytes are large and positive.
    for (std::byte& byte : used.world().block()) byte = std::byte{0x5A};
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

TEST(Reset, AWorldBeginsWithItsFirstJobOrAtZero) {
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
