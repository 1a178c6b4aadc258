// Observations do not depend on the future. Batches over workloads that are equal up to a time have
// the same observations, masks, priors and rewards until then, for any actions.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/support/futures.h"
#include "tests/support/worlds.h"

namespace yard::testing {
namespace {

constexpr int kWorlds = 4;

struct SplitResult {
  int64_t compared = 0;
  int ahead = 0;   // worlds whose observations differed too early
  int differ = 0;  // worlds whose observations differed after it
};

// Plays both with the same random actions. Each world runs until it has passed the time and its
// observations differ.
SplitResult play(const std::vector<EnvSpec>& now, const std::vector<EnvSpec>& then,
                 int64_t until_us, const BatchConfig& config) {
  BatchEnv a(now, config), b(then, config);
  a.reset();
  b.reset();
  SplitResult result;
  std::vector<char> done(kWorlds, 0);
  const double until_s = 1e-6 * static_cast<double>(until_us);
  for (uint64_t t = 0; t < 1000 && result.ahead + result.differ < kWorlds; ++t) {
    for (int n = 0; n < kWorlds; ++n) {
      const auto w = static_cast<size_t>(n);
      if (done[w]) continue;
      const bool same = seen(a, n) == seen(b, n);
      const bool before = a.elapsed_s(n) <= until_s || b.elapsed_s(n) <= until_s;
      result.compared += before;
      if (same) continue;
      done[w] = 1;
      ++(before ? result.ahead : result.differ);
    }
    a.step(random_actions(a, t));
    b.step(random_actions(b, t));
  }
  return result;
}

void expect_nothing_ahead(const std::string& agent, bool preempt) {
  Settings settings;
  settings.set("preempt", preempt ? "true" : "false", "test");
  SplitResult all;
  for (uint64_t trial = 0; trial < 6; ++trial) {
    FutureOptions options{.tenants = trial % 2 == 1, .models = trial % 3 == 1, .world = {}};
    options.world.jobs = 80;
    int64_t until_us = 0;
    const std::vector<ForkedWorld> pairs = forked_worlds(Rng(61).split(trial), options, until_us);
    const ForkableScene now_0(pairs[0].now), now_1(pairs[1].now);
    const ForkableScene then_0(pairs[0].then), then_1(pairs[1].then);
    const auto env_spec = [](const ForkableScene& scene) {
      return EnvSpec{scene.scene().fixed(), &scene.scene().workload(), 1};
    };
    BatchConfig config;
    config.worlds = kWorlds;
    config.episode_jobs = static_cast<int>(pairs[0].now.world.jobs.size());
    config.seed = trial;
    config.task = make_agent(agent, settings);
    const SplitResult result = play({env_spec(now_0), env_spec(now_1)},
                                    {env_spec(then_0), env_spec(then_1)}, until_us, config);
    EXPECT_EQ(result.ahead, 0) << "trial " << trial;
    all.compared += result.compared;
    all.differ += result.differ;
  }
  EXPECT_GT(all.compared, 300);
  EXPECT_GT(all.differ, 6 * kWorlds / 2) << "the futures are the same";
}

TEST(BatchFuture, IsInNoTensorOfTheDispatcher) {
  for (const bool preempt : {false, true}) {
    expect_nothing_ahead("dispatcher", preempt);
  }
}

TEST(BatchFuture, IsInNoTensorOfThePilot) {
  for (const bool preempt : {false, true}) {
    expect_nothing_ahead("pilot", preempt);
  }
}

}  // namespace
}  // namespace yard::testing
