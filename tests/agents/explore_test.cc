// Checks exploration by mask: the behaviour distribution and its recorded probabilities, that a bad
// mask does not bias learning, and that a good mask finds what the policy alone does not.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/agents/problems.h"

namespace yard::testing {
namespace {

constexpr int kEnd = Transition::kEnd;

std::unique_ptr<Learner> exploring(const std::string& share) {
  return LearnerRegistry::make("group", settings_of({"explore=" + share}));
}

TEST(Explore, ActsWithTheRecordedMixture) {
  // Four rows and the no-op. Row 3 and the no-op are illegal.
  const std::vector<double> pi = {0.6, 0.3, 0.1, 0, 0};
  std::vector<float> log_pi;
  for (const double p : pi) log_pi.push_back(static_cast<float>(std::log(std::max(p, 1e-30))));
  const std::vector<uint8_t> mask = {1, 1, 1, 0, 0, 0, 0}, none(7, 0),
                             beyond = {0, 0, 0, 1, 0, 0, 1},
                             exploration_mask = {0, 1, 1, 1, 0, 0, 1};
  struct Case {
    const uint8_t* exploration_mask;
    std::vector<double> mu;
  };
  for (const Case& c :
       {Case{exploration_mask.data(), {0.7 * 0.6, 0.7 * 0.3 + 0.15, 0.7 * 0.1 + 0.15, 0, 0}},
        Case{none.data(), pi}, Case{beyond.data(), pi}, Case{nullptr, pi}}) {
    const ActionDistribution options{log_pi, mask.data(), 6, c.exploration_mask};
    const auto learner = exploring("0.3");
    constexpr int kDraws = 100'000;
    std::vector<int> times(7, 0);
    for (uint64_t k = 0; k < kDraws; ++k) {
      Rng rng = Rng{5}.split(k);
      const SampledAction sampled = learner->act(options, rng);
      ++times[static_cast<size_t>(sampled.action)];
      ASSERT_NEAR(sampled.log_prob, std::log(c.mu[static_cast<size_t>(sampled.action)]), 1e-6);
    }
    for (size_t a = 0; a < 5; ++a) {
      const double p = c.mu[a];  // within five standard deviations
      EXPECT_NEAR(times[a], kDraws * p, 5 * std::sqrt(kDraws * p * (1 - p))) << a;
    }
  }
}

// Without exploration, the mask changes neither the sampled actions nor the random numbers used.
TEST(Explore, ZeroExplorationChangesNothing) {
  const std::vector<float> log_pi = {std::log(0.5F), std::log(0.3F), std::log(0.2F)};
  const std::vector<uint8_t> mask(3, 1), exploration_mask = {0, 0, 1};
  const auto learner = exploring("0");
  for (uint64_t k = 0; k < 1000; ++k) {
    Rng a = Rng{5}.split(k), b = a;
    const SampledAction with = learner->act({log_pi, mask.data(), 2, exploration_mask.data()}, a);
    const SampledAction without = learner->act({log_pi, mask.data(), 2}, b);
    EXPECT_EQ(with.action, without.action);
    EXPECT_EQ(with.log_prob, without.log_prob);
    EXPECT_EQ(with.log_prob, log_pi[static_cast<size_t>(with.action)]);
    EXPECT_EQ(a.uniform(), b.uniform());
  }
}

TEST(Explore, ExperienceHasBothProbabilities) {
  const Table bandit = {.transitions = {{{kEnd, 0, 1}, {kEnd, 0, 1}, {kEnd, 0, 1}}},
                        .prior = {2, 0, 0},
                        .exploration_mask = {1}};
  TableTraining training(bandit, "ppo", {"num_steps=400", "explore=0.4"}, {.worlds = 50}, {}, 1);
  training.collector().collect(0, nullptr);
  const Rollout& r = training.collector().rollout();
  const std::vector<double> pi = training.probabilities(0);
  double tried = 0;
  for (size_t i = 0; i < r.action.size(); ++i) {
    const auto a = static_cast<size_t>(r.action[i]);
    tried += a == 1;
    EXPECT_NEAR(r.log_prob[i], std::log(pi[a]), 1e-5);
    EXPECT_NEAR(r.behaviour_log_prob[i], std::log(0.6 * pi[a] + (a == 1 ? 0.4 : 0)), 1e-5);
  }
  const double p = 0.6 * pi[1] + 0.4;  // within five standard deviations
  EXPECT_NEAR(tried / 20'000, p, 5 * std::sqrt(p * (1 - p) / 20'000));
}

OptimizerConfig steady() {
  OptimizerConfig d;
  d.learning_rate = 0.02;
  d.update_epochs = 4;
  d.minibatch_size = 256;
  d.target_kl = 0.2;
  return d;
}

std::vector<std::string> settings_for(const std::string& learner, const std::string& explore) {
  std::vector<std::string> out = {"explore=" + explore};
  if (learner == "ppo") out.push_back("num_steps=16");
  if (learner == "dqn" || learner == "actor-critic") {
    for (const char* s : {"num_steps=16", "buffer_size=4096", "batch_size=1024", "n_step=8"})
      out.push_back(s);
  }
  out.push_back(learner == "dqn" ? "start_e=0" : "ent_coef=0");
  if (learner == "dqn") out.push_back("end_e=0");
  return out;
}

class EveryExplorer : public ::testing::TestWithParam<const char*> {};

// A chain of five states. "On" costs 1 per state and the end pays 20; "out" ends the episode with
// -1 and is what an untrained policy does. (The actor-critic does not find the end, with
// max_importance_weight=1 or with 0.)
TEST(Explore, MaskFindsRewardsMissedWithoutExploration) {
  for (const std::string learner : {"ppo", "group", "dqn"}) {
    Table chain{.transitions = {}, .prior = {0, -6}, .exploration_mask = {1}};
    for (int s = 0; s < 5; ++s) {
      chain.transitions.push_back(
          {{kEnd, -1, 10}, s < 4 ? Transition{s + 1, -1, 10} : Transition{kEnd, 19, 10}});
    }
    const auto min_probability = [&](const std::string& explore, int updates) {
      TableTraining training(chain, learner, settings_for(learner, explore),
                             {.worlds = 128, .group = 16}, steady(), 100);
      training.learn(updates);
      double least = 1;
      for (int s = 0; s < 5; ++s) least = std::min(least, training.probabilities(s)[1]);
      return least;
    };
    EXPECT_LT(min_probability("0", 20), 0.1) << learner;
    EXPECT_GT(min_probability("0.5", 60), 0.5) << learner;
  }
}

// An action that is sampled often because of the mask must not be rated higher for that.
TEST_P(EveryExplorer, LearnsToAvoidABadMaskedAction) {
  const Table bandit = {.transitions = {{{kEnd, -1, 1}, {kEnd, -1.2, 1}, {kEnd, -1.4, 1}}},
                        .exploration_mask = {2}};
  TableTraining training(bandit, GetParam(), settings_for(GetParam(), "0.5"),
                         {.worlds = 64, .group = 8}, steady(), 1e9);
  training.learn(60);
  const std::vector<double> p = training.probabilities(0);
  EXPECT_EQ(std::ranges::max_element(p) - p.begin(), 0);
  if (std::string(GetParam()) != "dqn") {
    EXPECT_GT(p[0], 0.9);
  }
}

INSTANTIATE_TEST_SUITE_P(Learning, EveryExplorer,
                         ::testing::Values("ppo", "group", "dqn", "actor-critic"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace yard::testing
