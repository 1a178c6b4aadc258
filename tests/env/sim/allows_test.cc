// Edits which the cluster's manager does not allow are illegal, in a plan and in a draft.
#include <gtest/gtest.h>

#include "env/sim/rules/rules.h"
#include "env/sim/view/plan.h"
#include "tests/support/scene.h"

namespace yard::testing {
namespace {

// A cluster whose manager only starts jobs, and one which requeues but does not migrate.
TEST(Rules, VerbsTheClusterForbidsAreIllegal) {
  const Scene scene("2x4", jobs_of({{0, 4, 100}}));
  const auto policy = make_policy("fifo");
  SceneRunner runner(scene, *policy);
  ASSERT_TRUE(runner.advance());
  SimState& s = runner.world().state();
  SimModel f = scene.fixed();
  const Piece here{0, 4}, there{1, 4};
  start(f, s, 0, &here, 1);
  f.allows = {.preempt = false, .move = false};
  EXPECT_FALSE(legal_preempt(f, s, 0));
  f.allows = {.preempt = true, .move = false};
  ASSERT_TRUE(legal_preempt(f, s, 0));
  s.head->now_us += 1'000'000;
  Draft draft(f, s);
  ASSERT_TRUE(draft.preempt(0));
  ASSERT_EQ(s.phase[0], Phase::kStopping);
  EXPECT_FALSE(legal_start(f, s, 0, &there, 1)) << "a move";
  EXPECT_FALSE(draft.start(0, &there, 1));
  f.allows = {};
  EXPECT_TRUE(legal_start(f, s, 0, &there, 1));
  const Plan stop = draft.plan();
  draft.undo_to(0);
  EXPECT_EQ(flaw_of_decision(f, s, stop), "");
  f.allows = {.preempt = false, .move = false};
  EXPECT_EQ(flaw_of_decision(f, s, stop), "preemption of slot 0: not allowed here");
}

}  // namespace
}  // namespace yard::testing
