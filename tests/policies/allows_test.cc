// Clusters that only start jobs, and clusters that requeue but do not migrate. The plans of every
// registered policy obey these limits.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/scene.h"

namespace yard::testing {
namespace {

std::vector<Job> crowd() {
  return random_jobs(Rng(17), {.count = 60, .sizes = {1, 1, 2, 4, 7, 12}, .mean_gap_s = 120});
}

class Allowed : public ::testing::TestWithParam<std::string> {};

int32_t sum(const SceneRunner& runner, int32_t JobOutcome::*count) {
  int32_t out = 0;
  for (const JobOutcome& job : runner.jobs()) out += job.*count;
  return out;
}

// The runner checks every plan against the rules.
TEST_P(Allowed, SupportsStartOnly) {
  Scene scene("3x4+1x8", crowd());
  scene.allow({.preempt = false, .move = false});
  const auto policy = make_policy(GetParam());
  SceneRunner runner(scene, *policy);
  runner.play();
  ASSERT_FALSE(runner.failed());
  for (const JobOutcome& job : runner.jobs()) ASSERT_NE(job.end_us, kNone);
  EXPECT_EQ(sum(runner, &JobOutcome::preemptions), 0);
}

TEST_P(Allowed, SupportsStartAndRequeue) {
  Scene scene("3x4+1x8", crowd());
  scene.allow({.preempt = true, .move = false});
  const auto policy = make_policy(GetParam());
  SceneRunner runner(scene, *policy);
  runner.play();
  ASSERT_FALSE(runner.failed());
  for (const JobOutcome& job : runner.jobs()) ASSERT_NE(job.end_us, kNone);
}

std::string plain_name(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::ranges::replace(name, '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Registered, Allowed, ::testing::ValuesIn(PolicyRegistry::names()),
                         plain_name);

// The setting `preempt=false` equals a cluster that does not allow preemption.
TEST(StartOnlyCluster, MatchesThePreemptSetting) {
  Scene scene("3x4+1x8", crowd());
  const auto by_setting = make_policy("2d-las preempt=false");
  SceneRunner first(scene, *by_setting);
  first.play();
  scene.allow({.preempt = false, .move = false});
  const auto held = make_policy("2d-las");
  SceneRunner second(scene, *held);
  second.play();
  for (size_t j = 0; j < first.jobs().size(); ++j) {
    ASSERT_EQ(first.jobs()[j].end_us, second.jobs()[j].end_us) << j;
  }
}

std::vector<int64_t> ends(const std::string& policy, bool stops) {
  const std::vector<Job> jobs =
      random_jobs(Rng(23), {.count = 150, .sizes = {1, 1, 2, 4}, .mean_gap_s = 60});
  Scene scene("2x4", jobs);
  scene.allow({.preempt = stops, .move = stops});
  const auto decider = make_policy(policy);
  SceneRunner runner(scene, *decider);
  runner.play();
  EXPECT_FALSE(runner.failed());
  std::vector<int64_t> out;
  for (const JobOutcome& job : runner.jobs()) out.push_back(job.end_us);
  return out;
}

// The Gittins index assumes that jobs which turn out to be long can be preempted.
TEST(StartOnlyCluster, IndicesUseTheMeanTimeLeft) {
  for (const std::string name : {"survival", "joint"}) {
    SCOPED_TRACE(name);
    EXPECT_NE(ends(name + " gittins=1", true), ends(name + " gittins=0", true));
    EXPECT_EQ(ends(name + " gittins=1", false), ends(name + " gittins=0", false));
    EXPECT_EQ(ends(name + " gittins=1 preempt=false", true),
              ends(name + " gittins=0 preempt=false", true));
    EXPECT_NE(ends(name, false), ends("fifo", false));
  }
}

// Stops the job every `every_us`. Restarts it elsewhere in the same plan, or once it waits.
struct PeriodicPreempter final : Decider {
  PeriodicPreempter(int64_t every_us, bool migrations)
      : every_us(every_us), migrations(migrations) {}
  int64_t every_us;
  bool migrations;
  int stops = 0;

  InformationLevel level() const override { return InformationLevel::kBlind; }
  void decide(const View& view, Draft& draft) override {
    const Piece first{0, 1}, second{1, 1};
    if (view.num_waiting() > 0)
      draft.start(view.queue_head(), stops % 2 == 0 ? &first : &second, 1);
    if (view.num_holders() > 0 && stops < 3) {
      const int32_t slot = view.holder_slot(0);
      const bool due = view.now_us() - view.phase_or_rate_since_us(slot) >= every_us;
      if (view.phase(slot) == Phase::kRunning && due && draft.preempt(slot)) {
        ++stops;
        if (migrations) draft.start(slot, stops % 2 == 0 ? &first : &second, 1);
      }
    }
    draft.wake_at(view.now_us() + every_us);
  }
};

JobOutcome disturbed(int64_t every_us, bool migrations) {
  const Scene scene("2x1", jobs_of({{0, 1, 10000}}));
  PeriodicPreempter decider(every_us, migrations);
  const Outcome outcome = RuleSetRegistry::make("default", {})
                              ->replay({.fixed = scene.fixed(),
                                        .workload = scene.workload(),
                                        .first_job = 0,
                                        .end_job = scene.size(),
                                        .policy = "test",
                                        .placement = {},
                                        .settings = {},
                                        .decider = &decider,
                                        .watch = {}});
  EXPECT_TRUE(outcome.counts_edits);
  return outcome.jobs[0];
}

TEST(Disturbances, CountMigrationsAndRapidRepreemptions) {
  const JobOutcome moved = disturbed(100 * kSecond, true);
  EXPECT_EQ(moved.preemptions, 3);
  EXPECT_EQ(moved.migrations, 3);
  EXPECT_EQ(moved.rapid_repreemptions, 2);  // all but the first
  const JobOutcome rare = disturbed(1000 * kSecond, true);
  EXPECT_EQ(rare.preemptions, 3);
  EXPECT_EQ(rare.migrations, 3);
  EXPECT_EQ(rare.rapid_repreemptions, 0);
  const JobOutcome requeued = disturbed(100 * kSecond, false);
  EXPECT_EQ(requeued.preemptions, 3);
  EXPECT_EQ(requeued.migrations, 0);
  EXPECT_EQ(requeued.rapid_repreemptions, 2);
}

}  // namespace
}  // namespace yard::testing
