// Checks learners on problems with a known answer: a bandit, a chain, an endless loop, cloning of
// an expert, and a KL penalty for leaving the expert.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "env/base/files/file.h"
#include "tests/agents/problems.h"

namespace yard::testing {
namespace {

constexpr int kLastState = Transition::kEnd;

OptimizerConfig steady_optimizer() {
  OptimizerConfig d;
  d.learning_rate = 0.02;
  d.update_epochs = 4;
  d.minibatch_size = 256;
  d.target_kl = 0.2;
  return d;
}

std::vector<std::string> settings_for(const std::string& learner) {
  if (learner == "reinforce") return {};
  if (learner == "ppo") return {"ent_coef=0", "num_steps=16"};
  if (learner == "dqn")
    return {"num_steps=16", "buffer_size=8192", "batch_size=2048", "exploration_updates=20"};
  // Enough entropy not to settle on "out", which is the better action at first.
  if (learner == "actor-critic") {
    return {"num_steps=16", "buffer_size=4096", "batch_size=1024", "n_step=8", "ent_coef=0.1"};
  }
  return {"ent_coef=0"};
}

// A chain of five states. "On" costs 1 and takes 10 s per state, and the end pays 20; "out" ends
// the episode with -1. With g the discount over 10 s, going on has the value
//   V(s) = -1 + g V(s + 1),  V(4) = -1 + 20,
// which is above -1 everywhere, although the first reward of both actions is the same.
Table chain() {
  Table t;
  for (int s = 0; s < 5; ++s) {
    t.transitions.push_back(
        {{kLastState, -1, 10}, s < 4 ? Transition{s + 1, -1, 10} : Transition{kLastState, 19, 10}});
  }
  return t;
}

Table bandit() {
  return {
      .transitions = {
          {{kLastState, -2, 1}, {kLastState, -1, 1}, {kLastState, -5, 1}, {kLastState, -1.5, 1}}}};
}

class EveryLearner : public ::testing::TestWithParam<const char*> {};

TEST_P(EveryLearner, FindsTheBestArmOfABandit) {
  TableTraining training(bandit(), GetParam(), settings_for(GetParam()), {.worlds = 64, .group = 8},
                         steady_optimizer(), 1e9);
  EXPECT_NEAR(training.probabilities(0)[1], 0.25, 1e-6);
  training.learn(30);
  if (std::string(GetParam()) != "dqn") {
    EXPECT_GT(training.probabilities(0)[1], 0.95);
    return;
  }
  const std::vector<double> action_values = training.action_values(0);
  EXPECT_NEAR(action_values[1], -1, 0.02);  // the best arm, sampled most
  EXPECT_NEAR(action_values[3], -1.5, 0.1);
  EXPECT_NEAR(action_values[0], -2, 0.2);
}

// A learner with another value loss is one file (clipped_value_ppo.cc).
TEST(ClippedValuePpo, LearnsTheBestArm) {
  TableTraining training(bandit(), "clipped-value-ppo", {"ent_coef=0"}, {.worlds = 64, .group = 8},
                         steady_optimizer(), 1e9);
  training.learn(30);
  EXPECT_GT(training.probabilities(0)[1], 0.95);
}

TEST(EveryNetwork, LearnsAChainAndItsValues) {
  for (const std::string& network : NetworkRegistry::names()) {
    TableTraining training(chain(), "ppo", settings_for("ppo"), {.worlds = 128, .group = 16},
                           steady_optimizer(), 100, network);
    training.learn(60);
    for (int s = 0; s < 5; ++s) EXPECT_GT(training.probabilities(s)[1], 0.9) << network << " " << s;
    EXPECT_NEAR(training.value(4), 19, 1) << network;
  }
}

// docs/design/agents.md promises a learner of so many lines, which is compiled and tested here.
TEST(Example, MatchesTheDocumentation) {
  const std::string code = read_file("tests/agents/example_learner.cc");
  const std::string page = read_file("docs/design/agents.md");
  EXPECT_NE(page.find("`tests/agents/example_learner.cc` is REINFORCE in 35 lines"),
            std::string::npos);
  EXPECT_LE(std::ranges::count(code, '\n'), 35);
}

TEST_P(EveryLearner, LearnsToTraverseAChain) {
  const double horizon_s = 100, g = std::exp(-0.1);
  TableTraining training(chain(), GetParam(), settings_for(GetParam()),
                         {.worlds = 128, .group = 16}, steady_optimizer(), horizon_s);
  const std::string learner = GetParam();
  training.learn(learner == "actor-critic" ? 80 : 40);
  double value = 19;
  for (int s = 4; s >= 0; --s) {
    // The tolerances allow for about a hundred Adam steps of a small network at a falling step
    // size, and for a policy that takes "out" in up to 3 % of all states.
    if (learner != "group" && learner != "reinforce") {
      EXPECT_NEAR(training.value(s), value, 0.5) << s;
    }
    if (learner == "dqn") {
      EXPECT_NEAR(training.action_values(s)[1], value, 0.5) << s;
      EXPECT_NEAR(training.action_values(s)[0], -1, 0.7) << s;
    } else {
      EXPECT_GT(training.probabilities(s)[1], 0.97) << s;
    }
    value = -1 + g * value;
  }
}

INSTANTIATE_TEST_SUITE_P(Learning, EveryLearner,
                         ::testing::Values("ppo", "group", "reinforce", "dqn", "actor-critic"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

// A state that costs 1 every 10 s for ever has the value -1 / (1 - g). Truncating episodes after
// three decisions must not change it.
TEST(Learning, TruncatedEpisodesBootstrapFromTheValue) {
  const Table loop = {.transitions = {{{0, -1, 10}, {0, -1, 10}}}, .max_decisions = 3};
  OptimizerConfig optimizer_config = steady_optimizer();
  optimizer_config.max_grad_norm = 10;
  TableTraining training(loop, "ppo", settings_for("ppo"), {.worlds = 64}, optimizer_config, 100);
  training.learn(60);
  EXPECT_NEAR(training.value(0), -1 / (1 - std::exp(-0.1)), 0.2);
}

// In state 0, staying pays 1 in 1 s and going to state 1 pays 0 in 1 s; the way back pays 5 in 2 s.
// The best average reward is 5 in 3 s. From h(0) = -rate + h(1), h(1) is 5/3 above h(0).
TEST(Learning, AverageRewardFindsTheRateAndRelativeValues) {
  const Table two = {.transitions = {{{0, 1, 1}, {1, 0, 1}}, {{0, 5, 2}, {1, 0, 1}}}};
  TableTraining training(
      two, "ppo",
      {"ent_coef=0", "num_steps=64", "average_reward=true", "rate_step=0.3", "gae_lambda=0.9"},
      {.worlds = 32}, steady_optimizer(), 1);
  training.learn(60);
  EXPECT_GT(training.probabilities(0)[1], 0.97);
  EXPECT_GT(training.probabilities(1)[0], 0.97);
  const double rate = nlohmann::json::parse(training.learner().save())["rate"];
  EXPECT_NEAR(rate, 5.0 / 3, 0.03);
  EXPECT_NEAR(training.value(1) - training.value(0), 5.0 / 3, 0.15);  // a critic after 60 updates
}

// The expert always takes "out" and gets -1; the whole chain is better. The first world of each
// group plays the expert and is not learned from.
TEST(Learning, RelativeRewardsLeadToTheSamePolicy) {
  TableTraining training(chain(), "ppo", {"ent_coef=0", "relative_reward=true"},
                         {.worlds = 128, .group = 8}, steady_optimizer(), 1e9);
  training.learn(40);
  for (int s = 0; s < 5; ++s) EXPECT_GT(training.probabilities(s)[1], 0.97) << s;
  // 15 for the whole chain (four times -1, then 19), minus the expert's -1.
  EXPECT_NEAR(training.value(0), 15 + 1, 0.5);
  const auto learned = training.collector().samples_to_learn();
  for (const int64_t i : learned) {
    EXPECT_NE(training.collector().rollout().world[static_cast<size_t>(i)] % 8, 0);
  }
  EXPECT_LT(learned.size(), training.collector().rollout().world.size());
}

// An expert that takes one action in 70 % and another in 30 % of cases is cloned with these
// frequencies, which maximise the likelihood.
TEST(Learning, CloneMatchesTheExpertsFrequencies) {
  Table table = {.transitions = {{{1, 0, 1}, {1, 0, 1}, {1, 0, 1}},
                                 {{kLastState, 0, 1}, {kLastState, 0, 1}, {kLastState, 0, 1}}}};
  table.expert_action = [](int state, Rng& rng) {
    return state == 1 ? 2 : rng.uniform() < 0.7 ? 0 : 1;
  };
  OptimizerConfig optimizer_config = steady_optimizer();
  optimizer_config.minibatch_size = 100'000;
  TableTraining training(table, "clone", {}, {.worlds = 2000}, optimizer_config, 1);
  training.learn(60);
  // Four standard errors of a frequency among 2,000 samples, at a falling step size.
  EXPECT_NEAR(training.probabilities(0)[0], 0.7, 0.04);
  EXPECT_NEAR(training.probabilities(0)[1], 0.3, 0.04);
  EXPECT_GT(training.probabilities(1)[2], 0.98);
}

// Cloning needs no rewards: in all states of the chain but the last, the expert's action costs.
TEST(Learning, CloneFollowsTheExpertThroughAChain) {
  Table table = chain();
  table.expert_action = [](int, Rng&) { return 1; };
  TableTraining training(table, "clone", {}, {.worlds = 128}, steady_optimizer(), 100);
  training.learn(40);
  for (int s = 0; s < 5; ++s) EXPECT_GT(training.probabilities(s)[1], 0.97) << s;
}

// With p the probability of the expert's action, q that of each other, g = log(p / q), entropy H:
//   L = -log p - c H,   dL = 0:   c p g = 1
TEST(Learning, EntropyBonusGivesTheExpectedProbabilities) {
  const double c = 2;
  Table table = {
      .transitions = {
          {{kLastState, 0, 1}, {kLastState, 0, 1}, {kLastState, 0, 1}, {kLastState, 0, 1}}}};
  table.expert_action = [](int, Rng&) { return 2; };
  TableTraining training(table, "clone", {"ent_coef=2"}, {.worlds = 128}, steady_optimizer(), 100);
  training.learn(60);
  const auto p = training.probabilities(0);
  for (const size_t other : {0, 1, 3}) EXPECT_NEAR(c * p[2] * std::log(p[2] / p[other]), 1, 0.02);
}

// A bandit's arms 0 and 1 pay 1 and 0. With advantages normalised to standard deviation 1, the gain
// of arm 0 over arm 1 is 1 / sqrt(p (1 - p)). It balances the KL penalty at the p that solves
//   log(p / (1 - p)) = log(q / (1 - q)) + 1 / (b sqrt(p (1 - p))),
// with q the expert's probability of arm 0 and b the weight of the KL penalty.
TEST(Learning, KlPenaltyGivesTheExpectedProbability) {
  const double b = 3, expert_logit = -2;
  const auto balance = [&](double p) {
    return std::log(p / (1 - p)) - expert_logit - 1 / (b * std::sqrt(p * (1 - p)));
  };
  double low = 0.12, high = 0.5;  // from the expert's probability up to the first balance
  ASSERT_LT(balance(low), 0);
  ASSERT_GT(balance(high), 0);
  for (int i = 0; i < 60; ++i) {
    const double mid = (low + high) / 2;
    (balance(mid) < 0 ? low : high) = mid;
  }
  const Table bandit = {.transitions = {{{kLastState, 1, 1}, {kLastState, 0, 1}}},
                        .prior = {expert_logit, 0}};
  OptimizerConfig optimizer_config = steady_optimizer();
  optimizer_config.minibatch_size = 100'000;
  optimizer_config.update_epochs = 1;
  TableTraining training(bandit, "group", {"ent_coef=0", "expert_kl_coef=3"},
                         {.worlds = 2000, .group = 50}, optimizer_config, 1e9);
  EXPECT_NEAR(training.probabilities(0)[0], 1 / (1 + std::exp(2)), 1e-4);
  training.learn(100);
  EXPECT_NEAR(training.probabilities(0)[0], low, 0.02);  // 2,000 samples per update
}

}  // namespace
}  // namespace yard::testing
