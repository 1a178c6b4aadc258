// Checks the agent meta: it chooses a placement, then the job's exchange where that is allowed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "agents/rollout/vector_env.h"
#include "agents/train/trainable_agent.h"
#include "env/task/agent.h"
#include "env/trace/generators/rings.h"
#include "policies/memory.h"
#include "policies/policy.h"
#include "tests/agents/problems.h"
#include "tests/support/agent_steps.h"
#include "tests/support/exchange_scene.h"

namespace yard::testing {
namespace {

// Columns of features in a row, as in the task's schema.
enum { kExchanges = 0, kNodes = 10, kTree = 21, kPriority = 23, kPredicted = 24, kVariance = 25 };

// Applies random actions. Counts exchange decisions and rows with a prediction.
class RandomPolicy final : public Policy {
 public:
  explicit RandomPolicy(const std::vector<std::string>& settings)
      : agent_(make_agent("meta", settings_of(settings))) {}

  InformationLevel level() const override { return agent_->level(); }
  size_t memory_bytes(const View& view) const override { return agent_->memory_bytes(view); }

  void decide(const View& view, Memory& memory, Draft& draft) const override {
    AgentSteps steps(*agent_, view, memory.data());
    int32_t placed = kNone;
    while (steps.next()) {
      const auto row = [&](int32_t r) { return steps.jobs.data() + r * steps.shape.row_features; };
      const bool exchanges = row(0)[kExchanges] == 1;
      const auto action =
          static_cast<int32_t>(rng_.below(static_cast<uint32_t>(steps.list.size())));
      const int32_t slot = steps.slots[static_cast<size_t>(action)];
      EXPECT_EQ(steps.mask.back(), 0) << "who fits starts";
      EXPECT_EQ(std::ranges::count(steps.exploration_mask, 1), 1)
          << "where the model is least sure";
      const auto explored = static_cast<int32_t>(std::ranges::max_element(steps.exploration_mask) -
                                                 steps.exploration_mask.begin());
      for (int32_t r = 0; r < steps.list.size(); ++r) {
        EXPECT_LE(row(r)[kVariance], row(explored)[kVariance]);
        num_predicted_ += row(r)[kPredicted] != 0 || row(r)[kVariance] != 0;
      }
      if (exchanges) {
        EXPECT_EQ(slot, placed) << "that was given a place just now";
        ++exchanges_;
      }
      steps.apply(action, draft);
      if (exchanges) {
        EXPECT_TRUE(view.holds_gpus(slot));
        EXPECT_EQ(view.all_reduce_settings(slot).all_reduce == Pattern::kTree,
                  row(action)[kTree] == 1);
        EXPECT_EQ(view.all_reduce_settings(slot).priority, std::lround(3 * row(action)[kPriority]));
        EXPECT_TRUE(row(action)[kNodes] > 0 || row(action)[kPriority] == 0)
            << "priorities are for links";
      }
      placed = view.holds_gpus(slot) ? kNone : slot;
    }
    steps.commit(draft);
  }

  int exchanges() const { return exchanges_; }
  int num_predicted() const { return num_predicted_; }

 private:
  std::shared_ptr<const Agent> agent_;
  mutable Rng rng_{5};
  mutable int exchanges_ = 0, num_predicted_ = 0;
};

class Meta : public ::testing::Test {
 protected:
  const RandomPolicy& play(const std::vector<std::string>& settings, bool choose = true) {
    const std::vector<Job> jobs = generate_all_reduce_jobs({}, {.seed = 4, .jobs = 80});
    const ExchangeScene scene(load_cluster("rings-8"), jobs, choose);
    for (const Job& job : jobs) multi_gpu_jobs_ += job.gpus > 1;
    policy_.emplace(settings);
    SceneRunner runner(scene.scene(), *policy_);
    runner.play();
    EXPECT_FALSE(runner.failed());
    return *policy_;
  }
  std::optional<RandomPolicy> policy_;
  int multi_gpu_jobs_ = 0;
};

TEST_F(Meta, ChoosesTheExchangeAfterPlacement) {
  EXPECT_EQ(play({}).exchanges(), multi_gpu_jobs_) << "once a job of several GPUs";
  EXPECT_GT(policy_->num_predicted(), 0);
}

TEST_F(Meta, SkipsTheExchangeDecisionIfFixedOrDisabled) {
  EXPECT_EQ(play({"second_head=false"}).exchanges(), 0);
  EXPECT_EQ(play({}, false).exchanges(), 0);
}

TEST_F(Meta, HidesPredictionsIfDisabled) { EXPECT_EQ(play({"model=false"}).num_predicted(), 0); }

}  // namespace
}  // namespace yard::testing
