// Checks advantages against hand-computed figures and against direct sums over random samples.
#include <gtest/gtest.h>

#include <cmath>

#include "agents/learners/returns.h"
#include "agents/rollout/batch_vector_env.h"
#include "tests/support/dispatcher.h"
#include "tests/support/worlds.h"

namespace yard::testing {
namespace {

struct Sample {
  int32_t world;
  double at_s;
  float reward, dt_s;
  Ending ending = Ending::kNone;
  float value = 0, final_value = 0;
};

Rollout rollout_of(const std::vector<Sample>& samples) {
  const Scene scene("2x8", busy_jobs(20));
  BatchVectorEnv env({{scene.fixed(), &scene.workload(), 1}}, {.worlds = 1, .episode_jobs = 20},
                     dispatcher::agent());
  env.reset();
  Rollout r(env.shape());
  const std::vector<int32_t> only = {0};
  for (const Sample& s : samples) {
    r.add_observations(env, only);
    r.world.back() = s.world;
    r.at_s.back() = s.at_s;
    r.reward.push_back(s.reward);
    r.dt_s.push_back(s.dt_s);
    r.ending.push_back(s.ending);
    r.value.push_back(s.value);
    r.final_value.push_back(s.final_value);
  }
  return r;
}

TEST(TimeAwareGae, MatchesTheFormula) {
  const Rollout r = rollout_of({
      {0, 0, 0, 0, Ending::kNone, 1},                // a second decision follows at the same time
      {1, 0, -3, 20, Ending::kTruncated, 1.5F, 7},   // truncated: bootstraps from the final value 7
      {0, 0, -2, 10, Ending::kTerminated, 2, 1000},  // terminated: the final value is ignored
      {0, 0, -1, 5, Ending::kNone, 0.5F},
      {1, 0, 0, 0, Ending::kNone, 0.25F},
      {0, 5, -4, 10, Ending::kNone, 3},
  });
  const double g5 = std::exp(-0.05), g10 = std::exp(-0.1), g20 = std::exp(-0.2);
  const double a5 = -0.4 + g10 * 4 - 3;                   // last step: bootstraps from last_value
  const double a3 = -0.1 + g5 * 3 - 0.5 + g5 * 0.5 * a5;  // time passes: lambda applies
  const double a2 = -0.2 - 2;
  const double a0 = (0 + 2 - 1) + a2;  // no time passes: no discount, no lambda
  const double a4 = 0 + 6 - 0.25;
  const double a1 = -0.3 + g20 * 7 - 1.5;  // nothing from the next episode
  const std::vector<float> last = {4, 6};
  const Returns out = time_aware_gae(r, last, 100, 0.5, 0.1);
  const double expected[] = {a0, a1, a2, a3, a4, a5};
  for (size_t i = 0; i < 6; ++i) {
    EXPECT_NEAR(out.advantage[i], expected[i], 1e-6) << i;
    EXPECT_NEAR(out.target[i], expected[i] + r.value[i], 1e-6) << i;
  }
}

TEST(GroupAdvantages, CompareReturnsFromTheSameTime) {
  const Rollout r = rollout_of({
      {0, 0, -10, 10},
      {1, 0, -5, 5},
      {1, 5, -10, 10, Ending::kTerminated},
      {0, 10, -20, 10, Ending::kTerminated},
  });
  // Returns from 0, 5 and 10 s on: world 0 has -30, -25 and -20; world 1 has -15, -10 and -5.
  const Returns out = group_advantages(r, 2, 2, 1e12, 2.0);
  EXPECT_TRUE(out.target.empty());
  const double expected[] = {2 * (-30 + 15), 2 * (-15 + 30), 2 * (-10 + 25), 2 * (-20 + 5)};
  for (size_t i = 0; i < 4; ++i) EXPECT_NEAR(out.advantage[i], expected[i], 1e-5) << i;
}

TEST(GroupAdvantages, DiscountByElapsedTime) {
  const Rollout r = rollout_of(
      {{0, 0, -4, 10}, {1, 0, -1, 30, Ending::kTerminated}, {0, 10, -2, 10, Ending::kTerminated}});
  const double g = std::exp(-1.0);  // 10 s at a horizon of 10 s
  const Returns out = group_advantages(r, 2, 2, 10, 1);
  EXPECT_NEAR(out.advantage[0], -4 - 2 * g + 1, 1e-5);
  EXPECT_NEAR(out.advantage[1], -1 + 4 + 2 * g, 1e-5);
  EXPECT_NEAR(out.advantage[2], -2 + 2.0 / 3, 1e-5);  // world 1: 20 of the 30 s of its step left
}

// World 1 is truncated at 10 s. Later rewards of world 0 have nothing to be compared with.
TEST(GroupAdvantages, CompareUpToTheFirstTruncation) {
  const Rollout r = rollout_of({{0, 0, -4, 10},
                                {1, 0, -4, 5},
                                {1, 5, -4, 5, Ending::kTruncated},
                                {0, 10, -100, 10, Ending::kTerminated}});
  const Returns out = group_advantages(r, 2, 2, 1e12, 1);
  EXPECT_NEAR(out.advantage[0], -4 + 8, 1e-5);
  EXPECT_NEAR(out.advantage[1], -8 + 4, 1e-5);
  EXPECT_NEAR(out.advantage[2], -4 + 2, 1e-5);
  EXPECT_EQ(out.advantage[3], 0) << "nothing to compare with";
}

TEST(GroupAdvantages, AreZeroForEqualBehaviour) {
  std::vector<Sample> samples;
  for (const int32_t world : {0, 1, 2}) {
    samples.push_back({world, 0, 0, 0});
    samples.push_back({world, 0, -7, 3});
    samples.push_back({world, 3, 0, 0});
    samples.push_back({world, 3, 0, 0});
    samples.push_back({world, 3, -11, 8});
    samples.push_back({world, 11, -1, 2, Ending::kTerminated});
  }
  const Returns out = group_advantages(rollout_of(samples), 3, 3, 50, 0.5);
  for (const float a : out.advantage) EXPECT_NEAR(a, 0, 1e-6);
}

// Random samples of many worlds: some decisions share a time, some episodes end or are truncated.
std::vector<Sample> random_samples(int worlds, int steps, bool whole_episodes, Rng rng) {
  std::vector<Sample> out;
  std::vector<double> clock_s(static_cast<size_t>(worlds), 0.0);
  for (int t = 0; t < steps; ++t) {
    for (int n = 0; n < worlds; ++n) {
      double& at_s = clock_s[static_cast<size_t>(n)];
      Sample s{n, at_s, static_cast<float>(-5 * rng.uniform()), 0};
      if (rng.uniform() < 0.7) s.dt_s = static_cast<float>(30 * rng.uniform());
      s.value = static_cast<float>(rng.normal());
      s.final_value = static_cast<float>(rng.normal());
      at_s += s.dt_s;
      const bool last = t + 1 == steps;
      if (whole_episodes ? last : rng.uniform() < 0.2) {
        s.ending =
            !whole_episodes && rng.uniform() < 0.5 ? Ending::kTruncated : Ending::kTerminated;
        if (!whole_episodes) at_s = 0;
      }
      out.push_back(s);
    }
  }
  return out;
}

// The definition behind the recursions: the sum of all later deltas of the same episode, each
// weighted by the product of the discounts and lambdas in between.
template <class RewardOf, class DiscountOf>
std::vector<double> slow_advantages(const std::vector<Sample>& samples,
                                    const std::vector<float>& last, double lambda,
                                    RewardOf&& reward_of, DiscountOf&& discount_of) {
  std::vector<double> out(samples.size(), 0.0);
  const auto next_of = [&](size_t i) {
    size_t k = i + 1;
    while (k < samples.size() && samples[k].world != samples[i].world) ++k;
    return k;
  };
  for (size_t i = 0; i < samples.size(); ++i) {
    double weight = 1;
    for (size_t k = i; k < samples.size(); k = next_of(k)) {
      const Sample& s = samples[k];
      const size_t next = next_of(k);
      const double after = s.ending == Ending::kTerminated  ? 0
                           : s.ending == Ending::kTruncated ? s.final_value
                           : next < samples.size()          ? samples[next].value
                                                            : last[static_cast<size_t>(s.world)];
      out[i] += weight * (reward_of(s) + discount_of(s) * after - s.value);
      if (s.ending != Ending::kNone) break;
      weight *= discount_of(s) * (s.dt_s > 0 ? lambda : 1);
    }
  }
  return out;
}

TEST(Advantages, RecursionsMatchExplicitSums) {
  for (const uint64_t seed : {1, 2, 3}) {
    const std::vector<Sample> samples = random_samples(5, 40, false, Rng{seed});
    const Rollout r = rollout_of(samples);
    const std::vector<float> last = {0.5F, -1, 2, 0, 1};
    const Returns discounted = time_aware_gae(r, last, 60, 0.9, 0.3);
    const Returns average = average_reward_gae(r, last, -0.2, 0.9, 0.3);
    const auto slow = slow_advantages(
        samples, last, 0.9, [](const Sample& s) { return 0.3 * s.reward; },
        [](const Sample& s) { return std::exp(-s.dt_s / 60.0); });
    const auto slow_average = slow_advantages(
        samples, last, 0.9, [](const Sample& s) { return 0.3 * s.reward + 0.2 * s.dt_s; },
        [](const Sample&) { return 1.0; });
    for (size_t i = 0; i < samples.size(); ++i) {
      // Advantages are stored as floats.
      EXPECT_NEAR(discounted.advantage[i], slow[i], 1e-5 * (1 + std::abs(slow[i]))) << i;
      EXPECT_NEAR(discounted.target[i], slow[i] + samples[i].value, 1e-5 * (1 + std::abs(slow[i])));
      EXPECT_NEAR(average.advantage[i], slow_average[i], 1e-5 * (1 + std::abs(slow_average[i])));
    }
  }
}

// The return of a world from a time on, reward by reward. Steps that begin later are discounted to
// their beginning. The step under way counts by the share of its time that is left.
double slow_return(const std::vector<Sample>& samples, int world, double from_s, double horizon_s) {
  double sum = 0;
  for (const Sample& s : samples) {
    if (s.world != world) continue;
    if (s.at_s > from_s) {
      sum += s.reward * std::exp(-(s.at_s - from_s) / horizon_s);
    } else if (s.at_s + s.dt_s > from_s) {
      sum += s.reward * (s.at_s + s.dt_s - from_s) / s.dt_s;
    }
  }
  return sum;
}

TEST(GroupAdvantages, MatchRewardByRewardSums) {
  for (const uint64_t seed : {4, 5}) {
    std::vector<Sample> samples = random_samples(6, 25, true, Rng{seed});
    // One decision per time, so that "from this time on" is unambiguous.
    std::erase_if(samples, [](const Sample& s) { return s.dt_s == 0; });
    std::vector<double> clock_s(6, 0.0);
    for (Sample& s : samples) {
      s.at_s = clock_s[static_cast<size_t>(s.world)];
      clock_s[static_cast<size_t>(s.world)] += s.dt_s;
    }
    const Returns out = group_advantages(rollout_of(samples), 6, 3, 200, 0.5);
    for (size_t i = 0; i < samples.size(); ++i) {
      const int first = samples[i].world / 3 * 3;
      double expected = slow_return(samples, samples[i].world, samples[i].at_s, 200);
      for (int m = first; m < first + 3; ++m) {
        if (m == samples[i].world) continue;
        expected -= slow_return(samples, m, samples[i].at_s, 200) / 2;
      }
      EXPECT_NEAR(out.advantage[i], 0.5 * expected, 1e-4) << i;
    }
  }
}

// World 0 is the heuristic. Its reward is -2 per second for 10 s, then -1 per second for 10 s.
TEST(RelativeRewards, SubtractTheExpertsRewards) {
  Rollout r = rollout_of({{0, 0, -20, 10},
                          {1, 0, 0, 0},
                          {1, 0, -7, 5},
                          {0, 10, -10, 10, Ending::kTerminated},
                          {1, 5, -12, 10, Ending::kTerminated}});
  subtract_expert_rewards(r, 2, 2);
  EXPECT_EQ(r.reward[0], 0) << "against itself";
  EXPECT_EQ(r.reward[3], 0);
  EXPECT_EQ(r.reward[1], 0);
  EXPECT_FLOAT_EQ(r.reward[2], -7 + 10);
  EXPECT_FLOAT_EQ(r.reward[4], -12 + 10 + 5 + 5) << "and its rewards after the end";
}

TEST(RelativeRewards, SumToTheDifferenceOfReturns) {
  const std::vector<Sample> samples = random_samples(6, 30, true, Rng{6});
  Rollout r = rollout_of(samples);
  std::vector<double> before(6, 0.0), after(6, 0.0);
  for (size_t i = 0; i < samples.size(); ++i) {
    before[static_cast<size_t>(r.world[i])] += r.reward[i];
  }
  subtract_expert_rewards(r, 6, 3);
  for (size_t i = 0; i < samples.size(); ++i) {
    after[static_cast<size_t>(r.world[i])] += r.reward[i];
  }
  for (size_t n = 0; n < 6; ++n) EXPECT_NEAR(after[n], before[n] - before[n / 3 * 3], 1e-3) << n;
}

}  // namespace
}  // namespace yard::testing
