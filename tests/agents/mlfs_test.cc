// Checks the agent mlfs: rewards of equation 7 by hand, and save and restore within a decision.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "agents/rollout/vector_env.h"
#include "agents/train/trainable_agent.h"
#include "env/trace/profiles/training_curves.h"
#include "tests/agents/problems.h"
#include "tests/support/worlds.h"

namespace yard::testing {
namespace {

// The sum of rewards of one world under the expert's actions.
double total_reward(const Scene& scene, const std::vector<std::string>& settings) {
  const auto worlds =
      TrainableAgent("mlfs", settings_of(settings))
          .make_environments(
              {{scene.fixed(), &scene.workload(), 1}},
              {.worlds = 1, .episode_jobs = scene.size(), .wait_at_end = true, .seed = 4});
  worlds->reset();
  double sum = 0;
  while (!worlds->is_done(0)) {
    worlds->step(std::vector<int32_t>{worlds->observations().expert_action[0]});
    sum += worlds->observations().reward[0];
  }
  return sum;
}

// Two jobs of one hour, one after the other on one GPU: three job-hours, all after the first
// decision. One meets its deadline. Accuracy suffices where the loss has fallen to `enough`.
TEST(Mlfs, RewardsJobHoursDeadlinesAndAccuracy) {
  std::vector<Job> jobs = jobs_of({{0, 1, 3600}, {0, 1, 3600}});
  for (Job& job : jobs) job.loss = {9, 1, 0};  // falls from 1 to 0.1
  jobs[0].dues = {{5000 * kSecond, 1}};
  jobs[1].dues = {{5000 * kSecond, 1}};
  jobs[0].enough = 0.5;   // reached
  jobs[1].enough = 0.05;  // never: falls by 0.9 of the 0.95
  Trace trace;
  trace.jobs = jobs;
  apply_training_curves(trace, {});
  const Scene scene("1x1", trace.jobs, no_costs());
  const double all = -0.5 * 3 + 0.55 + 0.15 * 1 + 0.15 * (1 + 0.9 / 0.95);
  EXPECT_NEAR(total_reward(scene, {"stopped_share=0"}), all, 1e-3);
  EXPECT_NEAR(total_reward(scene, {"stopped_share=0", "deadline_weight=2.55"}), all + 2, 1e-3);
  EXPECT_NEAR(total_reward(scene, {"stopped_share=0", "jct_weight=0"}), all + 1.5, 1e-3);
}

// Each goal is divided by its unit. The default units are 1.
TEST(Mlfs, DividesEachGoalByItsUnit) {
  std::vector<Job> jobs = jobs_of({{0, 1, 3600}, {0, 1, 3600}});
  for (Job& job : jobs) {
    job.loss = {9, 1, 0};
    job.dues = {{9000 * kSecond, 1}};
    job.enough = 0.5;
  }
  Trace trace;
  trace.jobs = jobs;
  apply_training_curves(trace, {});
  const Scene scene("1x1", trace.jobs, no_costs());
  const std::string rule = "stopped_share=0";
  const double all = total_reward(scene, {rule});
  EXPECT_NEAR(all, -0.5 * 3 + 0.55 * 2 + 0.15 * 2 + 0.15 * 2, 1e-3);
  EXPECT_EQ(all, total_reward(scene, {rule, "jct_unit=1", "deadline_unit=1", "bytes_unit=1",
                                      "enough_unit=1", "accuracy_unit=1"}));
  EXPECT_NEAR(total_reward(scene, {rule, "jct_unit=3"}), all + 0.5 * 3 - 0.5, 1e-3);
  EXPECT_NEAR(total_reward(scene, {rule, "deadline_unit=0.5"}), all + 0.55 * 2, 1e-3);
  EXPECT_NEAR(total_reward(scene, {rule, "enough_unit=2"}), all - 0.15, 1e-3);
  EXPECT_NEAR(total_reward(scene, {rule, "accuracy_unit=0.25"}), all + 3 * 0.15 * 2, 1e-3);
  EXPECT_THROW(total_reward(scene, {rule, "bytes_unit=0"}), InputError);
}

// Saves and restores at every step, also within decisions. The episode continues unchanged.
TEST(Mlfs, RestoredDecisionIsRepeated) {
  const Scene scene("4x8", busy_jobs(60));
  const auto make = [&] {
    return TrainableAgent("mlfs", {})
        .make_environments({{scene.fixed(), &scene.workload(), 1}},
                           {.worlds = 1, .episode_jobs = 60, .wait_at_end = true, .seed = 4});
  };
  const auto saved = make(), whole = make();
  saved->reset();
  whole->reset();
  for (uint64_t step = 0; step < 400 && !whole->is_done(0); ++step) {
    Rng rng = Rng{5}.split(step);
    const auto mask = whole->observations().mask;
    std::vector<int32_t> legal;
    for (size_t a = 0; a < mask.size(); ++a) {
      if (mask[a] != 0) legal.push_back(static_cast<int32_t>(a));
    }
    const std::vector<int32_t> action = {legal[rng.below(static_cast<uint32_t>(legal.size()))]};
    saved->restore(saved->save());
    ASSERT_TRUE(std::ranges::equal(saved->observations().jobs, whole->observations().jobs)) << step;
    ASSERT_TRUE(std::ranges::equal(saved->observations().mask, whole->observations().mask)) << step;
    saved->step(action);
    whole->step(action);
    ASSERT_EQ(saved->observations().reward[0], whole->observations().reward[0]) << step;
  }
}

}  // namespace
}  // namespace yard::testing
