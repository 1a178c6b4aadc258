// Checks that updates move probability to the better action and are refused if not finite.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "agents/networks/action_distribution.h"
#include "agents/rollout/batch_vector_env.h"
#include "agents/train/minibatch_optimizer.h"
#include "tests/support/checkpoints.h"
#include "tests/support/dispatcher.h"
#include "tests/support/worlds.h"

namespace yard::testing {
namespace {

std::unique_ptr<Network> bandit_net() {
  Settings settings;
  settings.set("hidden", "16", "test");
  return make_network("job-scorer", settings, dispatcher::kShape, 3);
}

// One observation and two of its actions, each taken equally often. One has the higher advantage.
class Bandit : public ::testing::Test {
 protected:
  Bandit() {
    env_.reset();
    const uint8_t* mask = env_.observations().mask.data();
    for (int32_t a = 0; a < dispatcher::kNothing && worse_ < 0; ++a) {
      if (mask[a] != 0) (better_ < 0 ? better_ : worse_) = a;
    }
    if (worse_ < 0) worse_ = dispatcher::kNothing;
    const std::vector<float> now = probabilities();  // per action
    for (int i = 0; i < 64; ++i) {
      rollout_.add_observations(env_, std::vector<int32_t>{0});
      order_.push_back(i);
      const int32_t action = i % 2 == 0 ? better_ : worse_;
      rollout_.action.push_back(action);
      rollout_.log_prob.push_back(std::log(now[static_cast<size_t>(action)]));
      rollout_.behaviour_log_prob.push_back(rollout_.log_prob.back());
      returns_.advantage.push_back(i % 2 == 0 ? 1.0F : -1.0F);
    }
    config_.minibatch_size = 16;
    config_.learning_rate = 0.01;
  }

  // Updates `net_` once with learner `name`.
  UpdateStats update(const char* name, double progress = 0) {
    MinibatchOptimizer minibatch_optimizer(*net_, config_, threads_, *ranks_);
    return minibatch_optimizer.update(*LearnerRegistry::make(name, {}), rollout_, returns_, order_,
                                      progress, Rng{1});
  }

  std::vector<float> probabilities() {
    torch::NoGradGuard no_grad;
    const auto p =
        torch::softmax(net_->logits(current_observation_batch(env_, std::vector<int32_t>{0})), 0)
            .contiguous();
    std::vector<float> out(dispatcher::kActions);
    std::copy_n(p.data_ptr<float>(), p.numel() - 1, out.begin());
    out[dispatcher::kNothing] = p[p.numel() - 1].item<float>();
    return out;
  }

  Scene scene_{"2x8", busy_jobs(60)};
  BatchVectorEnv env_{
      {{scene_.fixed(), &scene_.workload(), 1}}, {.episode_jobs = 40}, dispatcher::agent()};
  std::unique_ptr<Communicator> ranks_ = single_process_communicator();
  ThreadPool threads_{1};
  std::unique_ptr<Network> net_ = bandit_net();
  int32_t better_ = -1, worse_ = -1;
  Rollout rollout_{env_.shape()};
  std::vector<int64_t> order_;
  Returns returns_;
  OptimizerConfig config_;
};

TEST_F(Bandit, ProbabilityMovesToTheBetterAction) {
  const std::vector<float> before = probabilities();
  config_.target_kl = 1e9;
  config_.update_epochs = 4;
  const UpdateStats stats = update("group");
  EXPECT_EQ(stats.non_finite, "");
  EXPECT_GT(stats.approx_kl, 0);
  EXPECT_GT(stats.grad_norm, 0);
  const std::vector<float> after = probabilities();
  const auto b = static_cast<size_t>(better_), w = static_cast<size_t>(worse_);
  EXPECT_GT(after[b] / after[w], 1.1F * before[b] / before[w]);
  for (size_t a = 0; a < dispatcher::kActions; ++a) {
    if (env_.observations().mask[a] == 0) {
      EXPECT_EQ(after[a], 0);
    }
  }
}

TEST_F(Bandit, UpdateStopsAtTheTargetKl) {
  config_.target_kl = 1e9;
  config_.update_epochs = 40;
  const double free_kl = update("group").approx_kl;
  net_ = bandit_net();
  config_.target_kl = 1e-4;
  EXPECT_LT(update("group").approx_kl, free_kl / 4);
}

TEST_F(Bandit, CriticLearnsItsTarget) {
  rollout_.value.assign(64, 0);
  returns_.target.assign(64, -1.5F);
  config_.update_epochs = 50;
  config_.target_kl = 1e9;
  config_.max_grad_norm = 1e9;
  update("ppo");
  torch::NoGradGuard no_grad;
  const auto value = net_->value(current_observation_batch(env_, std::vector<int32_t>{0}));
  EXPECT_NEAR(value.item<float>(), -1.5, 0.1);
}

TEST_F(Bandit, NonFiniteUpdateIsNotApplied) {
  const std::vector<float> before = probabilities();
  std::fill(returns_.advantage.begin(), returns_.advantage.end(),
            std::numeric_limits<float>::quiet_NaN());
  EXPECT_EQ(update("group").non_finite, "the loss");
  EXPECT_EQ(probabilities(), before);
}

TEST_F(Bandit, NonFiniteGradientNormIsNotApplied) {
  rollout_.value.assign(64, 0);
  returns_.target.assign(64, 1e19F);  // its square fits a float, the gradient's does not
  const std::vector<float> before = probabilities();
  EXPECT_NE(update("ppo").non_finite, "");
  EXPECT_EQ(probabilities(), before);
}

TEST_F(Bandit, StepSizeIsZeroAtTheEnd) {
  const std::vector<float> before = probabilities();
  update("group", 1);
  EXPECT_EQ(probabilities(), before);
}

}  // namespace
}  // namespace yard::testing
