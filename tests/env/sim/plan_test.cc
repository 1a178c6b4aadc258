// Drafts and plans: undone edits leave no trace, and a plan executed in two phases leads to the
// state of its draft.
#include "env/sim/view/plan.h"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "env/sim/placement/placement_rules.h"
#include "env/sim/rules/digest.h"
#include "tests/support/scene.h"

namespace yard::testing {
namespace {

// Makes random legal edits and counts them.
class RandomEditor {
 public:
  RandomEditor(const SimModel& fixed, Rng rng) : fixed_(fixed), rng_(rng) {}

  // Tries one edit. Returns false if it was refused.
  bool edit(const View& view, Draft& draft, bool may_stop) {
    const auto slot =
        static_cast<int32_t>(rng_.below(static_cast<uint32_t>(view.slot_high_water())));
    if (may_stop && rng_.below(2) == 0) return draft.preempt(slot);
    const Phase phase = view.phase(slot);
    if (phase != Phase::kWaiting && phase != Phase::kStopping) return false;
    Piece* pieces = draft.scratch();
    const int32_t n = place(view, static_cast<PlacementRule>(rng_.below(3)), slot, pieces);
    return n > 0 && draft.start(slot, pieces, n);
  }

  uint32_t below(uint32_t bound) { return rng_.below(bound); }

 private:
  const SimModel& fixed_;
  Rng rng_;
};

// Edits at random, undoes to random depths and continues from there. Keeps what is left.
struct UndoingPolicy final : Policy {
  explicit UndoingPolicy(const Scene& scene, uint64_t seed) : scene(scene), seed(seed) {}
  const Scene& scene;
  uint64_t seed;
  mutable uint64_t calls = 0;
  mutable int64_t edits = 0, undone = 0;
  mutable std::function<uint64_t()> digest_now;

  InformationLevel level() const override { return InformationLevel::kBlind; }

  void decide(const View& view, Memory&, Draft& draft) const override {
    RandomEditor random(scene.fixed(), Rng(seed).split(calls++));
    struct Mark {
      size_t at;
      uint64_t digest;
      Plan plan;
    };
    std::vector<Mark> marks;
    for (int i = 0; i < 12; ++i) {
      marks.push_back({draft.mark(), digest_now(), draft.plan()});
      for (uint32_t n = random.below(4); n > 0; --n) edits += random.edit(view, draft, true);
      if (random.below(2) == 0) {
        marks.resize(1 + random.below(static_cast<uint32_t>(marks.size())));
        const Mark& mark = marks.back();
        undone += static_cast<int64_t>(draft.mark() - mark.at);
        draft.undo_to(mark.at);
        ASSERT_EQ(digest_now(), mark.digest);
        ASSERT_EQ(draft.plan(), mark.plan);
      }
    }
    if (random.below(4) == 0) draft.undo_to(0);
    // Some job has to run, or time would not advance.
    for (int32_t slot = view.queue_head(); view.num_holders() == 0 && slot != kNone;) {
      const int32_t next = view.queue_next(slot);
      Piece* pieces = draft.scratch();
      const int32_t n = place(view, PlacementRule::kFirstFit, slot, pieces);
      if (n > 0) draft.start(slot, pieces, n);
      slot = next;
    }
  }
};

class Drafts : public ::testing::TestWithParam<PreemptionCosts> {};

TEST_P(Drafts, UndoLeavesNoTraceAndPlansAreLegal) {
  for (uint64_t seed = 0; seed < 3; ++seed) {
    const Scene scene("2x4+1x8", random_jobs(Rng(9).split(seed), {.count = 60, .mean_gap_s = 30}),
                      GetParam());
    UndoingPolicy policy(scene, seed);
    SceneRunner runner(scene, policy);
    policy.digest_now = [&] { return digest(scene.fixed(), runner.state()); };
    // The play would be very long: 300 events are enough.
    for (int i = 0; i < 300 && runner.step(); ++i) {
      ASSERT_EQ(broken_invariant(scene.fixed(), runner.state()), "");
    }
    ASSERT_FALSE(runner.failed());
    EXPECT_GT(policy.edits, 300);
    EXPECT_GT(policy.undone, 100);
  }
}

INSTANTIATE_TEST_SUITE_P(PreemptionCosts, Drafts,
                         ::testing::Values(PreemptionCosts{}, no_costs(),
                                           PreemptionCosts{.save_us = 0,
                                                           .restore_us = 30'000'000}));

TEST(Draft, UndoesToAMark) {
  const Scene scene("1x4", jobs_of({{0, 1, 9}, {0, 1, 9}, {0, 2, 9}}));
  const auto policy = make_policy("fifo");
  SceneRunner runner(scene, *policy);
  ASSERT_TRUE(runner.advance());
  Draft draft(scene.fixed(), runner.world().state());
  const Piece one{0, 1};
  ASSERT_TRUE(draft.start(0, &one, 1));
  const size_t mark = draft.mark();
  ASSERT_TRUE(draft.start(1, &one, 1));
  draft.undo_to(mark);
  EXPECT_EQ(runner.view().num_holders(), 1);
  EXPECT_EQ(runner.view().queue_head(), 1) << "back in its position, before job 2";
  EXPECT_EQ(draft.plan().edits.size(), 1u);
}

TEST(Draft, DoesNotStopItsOwnStarts) {
  const Scene scene("2x4", jobs_of({{0, 4, 9}}));
  const auto policy = make_policy("fifo");
  SceneRunner runner(scene, *policy);
  ASSERT_TRUE(runner.advance());
  Draft draft(scene.fixed(), runner.world().state());
  const Piece piece{0, 4};
  ASSERT_TRUE(draft.start(0, &piece, 1));
  EXPECT_FALSE(draft.preempt(0)) << "a plan cannot express it";
  draft.undo_to(0);
  ASSERT_TRUE(draft.start(0, &piece, 1));
  draft.reset();
  EXPECT_TRUE(draft.preempt(0)) << "the next decision may";
}

TEST(Draft, KeepsTheEarliestWakeTime) {
  const Scene scene("1x1", jobs_of({{0, 1, 9}}));
  World world(scene.fixed(), 1);
  Draft draft(scene.fixed(), world.state());
  EXPECT_EQ(draft.plan().wake_us, kNever);
  draft.wake_at(70);
  draft.wake_at(50);
  draft.wake_at(60);
  EXPECT_EQ(draft.plan().wake_us, 50);
  draft.reset();
  EXPECT_EQ(draft.plan().wake_us, kNever);
}

// One running job (0, on node 0), two waiting (1 and 2), two nodes with 4 GPUs each.
class Illegal : public ::testing::Test {
 protected:
  Illegal()
      : scene_("2x4", jobs_of({{0, 4, 100}, {0, 4, 100}, {0, 2, 100}})),
        policy_(make_policy("fifo")),
        runner_(scene_, *policy_) {
    EXPECT_TRUE(runner_.advance());
    const Piece piece{0, 4};
    start_of(0, &piece);
  }

  void start_of(int32_t slot, const Piece* piece) {
    Draft draft(scene_.fixed(), runner_.world().state());
    EXPECT_TRUE(draft.start(slot, piece, 1));
  }

  JobRef ref(int32_t slot) { return runner_.view().ref(slot); }

  // Each start takes one piece, in order.
  std::string why(std::vector<std::pair<Verb, JobRef>> edits, std::vector<Piece> pieces) {
    Plan plan;
    plan.pieces = std::move(pieces);
    int32_t piece = 0;
    for (const auto& [verb, job] : edits) {
      const int32_t n = verb == Verb::kStart ? 1 : 0;
      plan.edits.push_back({verb, job, piece, n});
      piece += n;
    }
    return flaw_of_decision(scene_.fixed(), runner_.state(), plan);
  }

  const Scene scene_;
  std::unique_ptr<Policy> policy_;
  SceneRunner runner_;
};

TEST_F(Illegal, PlansAreRejectedWithAReason) {
  constexpr Verb kStart = Verb::kStart, kPreempt = Verb::kPreempt;
  EXPECT_EQ(why({{kStart, ref(1)}}, {{1, 4}}), "");
  EXPECT_EQ(why({{kStart, ref(1)}, {kPreempt, ref(0)}}, {{0, 4}}), "") << "whatever the order";
  EXPECT_EQ(why({{kStart, ref(1)}}, {{0, 4}}), "start of slot 1: node 0 lacks 4 GPUs");
  EXPECT_EQ(why({{kStart, ref(1)}, {kStart, ref(2)}}, {{1, 4}, {1, 2}}),
            "start of slot 2: node 1 lacks 2 GPUs");
  EXPECT_EQ(why({{kStart, ref(0)}}, {{1, 4}}), "start of slot 0: it runs already");
  EXPECT_EQ(why({{kStart, ref(1)}, {kStart, ref(1)}}, {{1, 4}, {1, 4}}),
            "start of slot 1: started twice");
  EXPECT_EQ(why({{kPreempt, ref(0)}, {kPreempt, ref(0)}}, {}),
            "preemption of slot 0: preempted twice");
  EXPECT_EQ(why({{kPreempt, ref(1)}}, {}), "preemption of slot 1: it does not run");
  EXPECT_EQ(why({{kStart, ref(1)}}, {{1, 3}}), "start of slot 1: asked for 4 GPUs, given 3");
  EXPECT_EQ(why({{kStart, ref(1)}}, {{1, 0}}), "start of slot 1: a piece without GPUs");
  EXPECT_EQ(why({{kStart, ref(1)}}, {{2, 4}}), "start of slot 1: no such node");
  EXPECT_EQ(why({{kStart, {1, 7}}}, {{1, 4}}), "start of slot 1: no such job");
  EXPECT_EQ(why({{kStart, {9, 0}}}, {{1, 4}}), "start of slot 9: no such job");
  EXPECT_EQ(why({{kPreempt, {-1, 0}}}, {}), "preemption of slot -1: no such job");
  Plan plan;
  plan.pieces = {{1, 2}, {1, 2}};
  plan.edits = {{kStart, ref(1), 0, 2}};
  EXPECT_EQ(flaw_of_decision(scene_.fixed(), runner_.state(), plan),
            "start of slot 1: a node listed twice");
  plan.pieces[1].mask = 0b1100;
  EXPECT_EQ(flaw_of_decision(scene_.fixed(), runner_.state(), plan),
            "start of slot 1: its pieces do not match its request or are not free");
}

TEST_F(Illegal, JobMayMoveInOnePlan) {
  EXPECT_EQ(why({{Verb::kPreempt, ref(0)}, {Verb::kStart, ref(0)}}, {{1, 4}}), "");
  EXPECT_EQ(why({{Verb::kPreempt, ref(0)}, {Verb::kStart, ref(0)}, {Verb::kStart, ref(1)}},
                {{1, 4}, {0, 4}}),
            "");
}

}  // namespace
}  // namespace yard::testing
