// The agent `pilot` in a batch: taking the expert's actions equals the policy `joint`. A partial
// decision is saved and forked with the rest of the state.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "env/base/core/error.h"
#include "policies/policy.h"
#include "tests/support/futures.h"
#include "tests/support/worlds.h"

namespace yard::testing {
namespace {

// A busy world with several GPU types. Neighbours and spread placements reduce speeds.
ForkableWorld rated_world(uint64_t trial) {
  ForkableWorld forkable =
      forkable_world(Rng(17).split(trial), {.models = true, .slowdowns = true, .world = {}});
  forkable.world.faults.clear();
  return forkable;
}

EnvSpec env_spec_of(const ForkableScene& scene) {
  return {scene.scene().fixed(), &scene.scene().workload(), 1};
}

BatchConfig config_of(const ForkableScene& scene, int worlds) {
  BatchConfig config;
  config.task = make_agent("pilot", {});
  config.worlds = worlds;
  config.episode_jobs = scene.scene().size();
  config.seed = 5;
  return config;
}

TEST(PilotEnv, ExpertActionsMatchThePolicy) {
  int64_t asked = 0, stayed = 0;
  const auto policy = make_policy("joint");
  for (uint64_t trial = 0; trial < 24; ++trial) {
    const ForkableScene scene(rated_world(trial));
    auto config = config_of(scene, 1);
    config.wait_at_end = true;
    BatchEnv env({env_spec_of(scene)}, config);
    env.reset();
    for (; !env.is_done(0); env.step(env.expert_action())) {
      ++asked;
      stayed += env.expert_action()[0] == env.shape().rows;
    }
    const auto results = env.take_results();
    ASSERT_EQ(results.size(), 1u);
    SceneRunner runner(scene.scene(), *policy);
    runner.play();
    ASSERT_FALSE(runner.failed());
    const double mean = 1e-6 * static_cast<double>(total_jct_us(scene.scene(), runner.jobs())) /
                        scene.scene().size();
    EXPECT_NEAR(results[0].mean_jct_s, mean, 1e-9 * mean) << trial;
  }
  EXPECT_GT(asked, 500);
  EXPECT_GT(stayed, 20);
}

// An episode that is truncated within a decision leaves nothing of it in the next episode.
TEST(PilotEnv, TruncationLeavesNoTraceInTheNextEpisode) {
  const ForkableScene scene(rated_world(4));
  auto config = config_of(scene, 2);
  config.max_decisions = 7;
  BatchEnv a({env_spec_of(scene)}, config), b({env_spec_of(scene)}, config);
  a.reset();
  int cut = 0;
  for (uint64_t t = 0; t < 90; ++t) {
    a.step(random_actions(a, t));
    cut += a.ending()[0] == Ending::kTruncated;
    if (t % 10 != 3) continue;
    b.reset();
    b.restore(a.save());
    ASSERT_TRUE(std::ranges::equal(a.jobs(), b.jobs())) << t;
    ASSERT_TRUE(std::ranges::equal(a.mask(), b.mask())) << t;
  }
  EXPECT_GT(cut, 5);
  a.reset();
  b.reset();
  EXPECT_TRUE(std::ranges::equal(a.jobs(), b.jobs()));
}

TEST(PilotEnv, SavedWorldsOfAnotherRuleOrClusterAreRefused) {
  const ForkableScene scene(rated_world(4));
  const auto config = config_of(scene, 1);
  BatchEnv env({env_spec_of(scene)}, config);
  env.reset();
  const auto saved = env.save();
  auto other = config;
  Settings settings;
  settings.overlay("type_price=0.7", "test");
  other.task = make_agent("pilot", settings);
  EXPECT_THROW(BatchEnv({env_spec_of(scene)}, other).restore(saved), InputError);
  EnvSpec strict = env_spec_of(scene);
  strict.fixed.allows = {.preempt = false, .move = false};
  EXPECT_THROW(BatchEnv({strict}, config).restore(saved), InputError);
}

TEST(PilotEnv, RewardsSumToMinusTheTotalJctForAnyActions) {
  int summed = 0;
  for (uint64_t trial = 0; trial < 8; ++trial) {
    const ForkableScene scene(rated_world(trial));
    auto config = config_of(scene, 1);
    config.wait_at_end = true;
    BatchEnv env({env_spec_of(scene)}, config);
    env.reset();
    double sum = 0;
    const double before = env.elapsed_s(0);  // in no reward
    for (uint64_t t = 0; !env.is_done(0); ++t) {
      env.step(random_actions(env, t));
      sum += env.reward()[0];
    }
    const double total = env.take_results()[0].mean_jct_s * scene.scene().size();
    summed += before == 0;
    if (before == 0) {
      EXPECT_NEAR(sum, -total, 1e-4 * total) << trial;
    }
  }
  EXPECT_GT(summed, 2);
}

TEST(PilotEnv, PartialDecisionIsSavedAndForked) {
  const ForkableScene one(rated_world(1)), two(rated_world(2));
  std::vector<EnvSpec> env_specs = {env_spec_of(one), env_spec_of(two)};
  auto config = config_of(one, 3);
  config.episode_jobs = std::min(one.scene().size(), two.scene().size());
  int64_t open = 0;
  for (uint64_t stop = 20; stop < 300; stop += 13) {
    BatchEnv a(env_specs, config), b(env_specs, config);
    a.reset();
    b.reset();
    for (uint64_t t = 0; t < stop; ++t) a.step(random_actions(a, t));
    open += a.dt_s()[0] == 0;
    b.restore(a.save());
    a.fork(0, 2);
    b.fork(0, 2);
    ASSERT_TRUE(std::ranges::equal(a.jobs(), b.jobs()));
    ASSERT_TRUE(std::ranges::equal(a.mask(), b.mask()));
    ASSERT_TRUE(std::ranges::equal(a.prior(), b.prior()));
    for (uint64_t t = stop; t < stop + 60; ++t) {
      a.step(random_actions(a, t));
      b.step(random_actions(b, t));
      for (int n = 0; n < 3; ++n) ASSERT_EQ(seen(a, n), seen(b, n)) << stop << " " << t;
    }
  }
  EXPECT_GT(open, 3) << "no decision was in the making";
}

TEST(PilotEnv, PriorHasTheExpertAsItsMode) {
  const ForkableScene scene(rated_world(3));
  auto config = config_of(scene, 2);
  BatchEnv env({env_spec_of(scene)}, config);
  env.reset();
  const auto actions = static_cast<size_t>(env.shape().actions());
  for (uint64_t t = 0; t < 300; ++t) {
    for (int n = 0; n < 2; ++n) {
      const auto prior = env.prior().subspan(static_cast<size_t>(n) * actions, actions);
      const auto mode = std::max_element(prior.begin(), prior.end()) - prior.begin();
      const int32_t expert_action = env.expert_action()[static_cast<size_t>(n)];
      EXPECT_EQ(prior[static_cast<size_t>(expert_action)], prior[static_cast<size_t>(mode)]);
    }
    env.step(random_actions(env, t));
  }
}

}  // namespace
}  // namespace yard::testing
