// Jobs which a policy ends before their work is done: which may be ended, what state results, and
// when that is visible.
#include <gtest/gtest.h>

#include <vector>

#include "env/sim/rules/digest.h"
#include "env/sim/rules/rules.h"
#include "env/sim/view/plan.h"
#include "tests/support/scene.h"

namespace yard::testing {
namespace {

void let_end(Job& job) {
  job.curve = {{0, 1, 0}, {1, 0, 0}};
  job.enough = 0.5;
}

// On a node with 4 GPUs: 0 and 1 run on two each, 2 waits for four; 3 depends on 0. All but 1 may
// be ended.
class Ends : public ::testing::Test {
 protected:
  Ends() : scene_("1x4", jobs()), policy_(make_policy("fifo")), runner_(scene_, *policy_) {
    EXPECT_TRUE(runner_.step());
    EXPECT_TRUE(runner_.step());
  }

  static std::vector<Job> jobs() {
    std::vector<Job> out = jobs_of({{0, 2, 100}, {0, 2, 100}, {40, 4, 10}, {40, 1, 10}});
    for (const size_t j : {0U, 2U, 3U}) let_end(out[j]);
    out[3].after = {out[0].id};
    return out;
  }

  SimState& state() { return runner_.world().state(); }
  const SimModel& fixed() const { return scene_.fixed(); }
  JobRef ref(int32_t slot) { return runner_.view().ref(slot); }
  std::string why(std::vector<Edit> edits, std::vector<Piece> pieces = {}) {
    return flaw_of_decision(fixed(), state(), {std::move(edits), std::move(pieces)});
  }

  const Scene scene_;
  std::unique_ptr<Policy> policy_;
  SceneRunner runner_;
};

TEST_F(Ends, OnlyRunningJobsWithATargetMayEndEarly) {
  const View& view = runner_.view();
  EXPECT_TRUE(view.may_end_early(0));
  EXPECT_EQ(view.sufficient_metric(0), 0.5);
  EXPECT_FALSE(view.may_end_early(1)) << "its user gave no target";
  EXPECT_TRUE(view.may_end_early(2));
  EXPECT_TRUE(legal_end_early(fixed(), state(), 0));
  for (const int32_t slot : {-1, 1, 2, 3, 4}) EXPECT_FALSE(legal_end_early(fixed(), state(), slot));
  EXPECT_EQ(why({{Verb::kEnd, ref(0)}}), "");
  EXPECT_EQ(why({{Verb::kEnd, ref(1)}}), "end of slot 1: its user does not allow it");
  EXPECT_EQ(why({{Verb::kEnd, ref(2)}}), "end of slot 2: it does not run");
  EXPECT_EQ(why({{Verb::kEnd, {0, 7}}}), "end of slot 0: no such job");
  EXPECT_EQ(why({{Verb::kEnd, ref(0)}, {Verb::kEnd, ref(0)}}), "end of slot 0: it does not run");
  EXPECT_EQ(why({{Verb::kPreempt, ref(0)}, {Verb::kEnd, ref(0)}}),
            "end of slot 0: it does not run");
  EXPECT_EQ(why({{Verb::kEnd, ref(0)}, {Verb::kPreempt, ref(0)}}),
            "preemption of slot 0: it does not run");
  EXPECT_EQ(why({{Verb::kEnd, ref(0)}, {Verb::kStart, ref(0), 0, 1}}, {{0, 2}}),
            "start of slot 0: it was ended");
  SimModel strict = fixed();
  strict.allows = {.preempt = false, .move = false};
  EXPECT_FALSE(legal_end_early(strict, state(), 0));
  EXPECT_FALSE(View(strict, state(), InformationLevel::kBlind).may_end_early(0));
  EXPECT_EQ(flaw_of_decision(strict, state(), {{{Verb::kEnd, ref(0)}}, {}}),
            "end of slot 0: not allowed here");
}

TEST_F(Ends, JobsWithoutACurveMayNotEndEarly) {
  std::vector<Job> bare = jobs_of({{0, 2, 100}, {0, 2, 100}});
  bare[0].enough = 0.5;
  let_end(bare[1]);
  bare[1].enough = Job::kNoTarget;
  const Scene scene("1x4", bare);
  const TrainingCurveColumns& curves = scene.fixed().jobs.curves;
  EXPECT_FALSE(curves.may_end_early(0));
  EXPECT_FALSE(curves.may_end_early(1));
}

TEST_F(Ends, EndedJobFreesItsGpusAtOnce) {
  SimState& s = state();
  ASSERT_EQ(s.head->now_us, 40 * kSecond);
  end_early(fixed(), s, 0);
  EXPECT_EQ(broken_invariant(fixed(), s), "");
  EXPECT_EQ(s.head->free_gpus, 2);
  EXPECT_EQ(s.head->ready_horizon_us, 0) << "nothing is saved";
  EXPECT_EQ(s.work_done_us[0], 40e6);
  EXPECT_EQ(s.preempted[0], 0);
  EXPECT_FALSE(all_done(s));
  const Piece back{0, 2};
  EXPECT_FALSE(legal_start(fixed(), s, 0, &back, 1)) << "it does not come back";
  EXPECT_EQ(s.phase[3], Phase::kBlocked);
  ASSERT_TRUE(runner_.advance());
  EXPECT_EQ(s.head->now_us, 40 * kSecond);
  EXPECT_TRUE(runner_.view().finished(0));
  EXPECT_EQ(s.phase[3], Phase::kWaiting) << "the job that came after it";
  EXPECT_EQ(s.head->finished, 1);
  EXPECT_EQ(runner_.jobs()[0].end_us, 40 * kSecond);
  EXPECT_TRUE(runner_.jobs()[0].ended_early);
  runner_.play();
  EXPECT_FALSE(runner_.failed());
  EXPECT_EQ(runner_.jobs()[2].start_us, 100 * kSecond) << "when job 1 has left the other two";
  EXPECT_FALSE(runner_.jobs()[1].ended_early);
}

TEST_F(Ends, FreedGpusCanBeUsedInTheSamePlan) {
  std::vector<Job> two = jobs_of({{0, 4, 100}, {40, 4, 10}});
  for (Job& job : two) let_end(job);
  const Scene scene("1x4", two);
  SceneRunner runner(scene, *policy_);
  ASSERT_TRUE(runner.step());
  ASSERT_TRUE(runner.advance());
  SimState& s = runner.world().state();
  const uint64_t before = digest(scene.fixed(), s);
  World other(scene.fixed(), 2);
  other.copy_from(runner.world());
  Draft draft(scene.fixed(), s);
  const Piece all{0, 4};
  EXPECT_FALSE(draft.start(1, &all, 1));
  ASSERT_TRUE(draft.end(0));
  const uint64_t ended = digest(scene.fixed(), s);
  EXPECT_NE(ended, before);
  EXPECT_FALSE(draft.end(0));
  EXPECT_FALSE(draft.preempt(0));
  const size_t mark = draft.mark();
  ASSERT_TRUE(draft.start(1, &all, 1));
  EXPECT_EQ(s.phase[1], Phase::kRunning) << "no job saves";
  EXPECT_FALSE(draft.end(1)) << "it has not started when the plan is applied";
  execute(scene.fixed(), other.state(), draft.plan());
  EXPECT_EQ(digest(scene.fixed(), other.state()), digest(scene.fixed(), s));
  draft.undo_to(mark);
  EXPECT_EQ(digest(scene.fixed(), s), ended);
  draft.undo_to(0);
  EXPECT_EQ(digest(scene.fixed(), s), before);
  EXPECT_TRUE(runner.view().may_end_early(0));
  ASSERT_TRUE(draft.preempt(0));
  const uint64_t preempted = digest(scene.fixed(), s);
  EXPECT_NE(preempted, ended) << "an end is not a preemption";
}

// A copied state continues to the same end.
TEST_F(Ends, CopyIncludesTheEnd) {
  end_early(fixed(), state(), 0);
  World copy(fixed(), scene_.size());
  copy.copy_from(runner_.world());
  EXPECT_EQ(digest(fixed(), copy.state()), digest(fixed(), state()));
  ASSERT_TRUE(copy.advance(scene_.truth()));
  ASSERT_TRUE(runner_.advance());
  EXPECT_EQ(digest(fixed(), copy.state()), digest(fixed(), state()));
  EXPECT_EQ(copy.state().head->finished, 1);
}

TEST_F(Ends, StopsComeBeforeStartsInAPlan) {
  SimState& s = state();
  Draft draft(fixed(), s);
  ASSERT_TRUE(draft.preempt(1));
  const Piece two{0, 2}, all{0, 4};
  ASSERT_TRUE(draft.start(1, &two, 1)) << "moved onto the other two, or the same";
  ASSERT_TRUE(draft.end(0));
  const uint64_t meant = digest(fixed(), s);
  draft.put_stops_first();
  EXPECT_EQ(digest(fixed(), s), meant);
  ASSERT_EQ(draft.plan().edits.size(), 3u);
  EXPECT_EQ(draft.plan().edits[1].verb, Verb::kEnd);
  EXPECT_EQ(draft.plan().edits[2].verb, Verb::kStart);
  EXPECT_FALSE(draft.start(2, &all, 1));
}

}  // namespace
}  // namespace yard::testing
