// Checks the agent meta: it chooses a placement, then the job's exchange where that is allowed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "agents/rollout/vector_env.h"
#include "agents/train/agent.h"
#include "env/task/row_task.h"
#include "env/trace/generators/rings.h"
#include "policies/memory.h"
#include "policies/policy.h"
#include "tests/agents/problems.h"
#include "tests/support/exchange_scene.h"

namespace yard::testing {
namespace {

// Columns of features in a row, as in the task's schema.
enum { kExchanges = 0, kNodes = 10, kTree = 21, kPriority = 23, kPredicted = 24, kVariance = 25 };

// Applies random actions. Counts exchange decisions and rows with a prediction.
class RandomPolicy final : public Policy {
 public:
  explicit RandomPolicy(const std::vector<std::string>& settings)
      : task_(RowTasks::make("meta", settings_of(settings))) {}

  Level level() const override { return task_->level(); }
  size_t memory_bytes(const View& view) const override { return task_->memory_bytes(view); }

  void decide(const View& view, Memory& memory, Draft& draft) const override {
    const TaskShape shape = task_->shape();
    std::vector<float> jobs(static_cast<size_t>(shape.rows * shape.row_features)),
        cluster(static_cast<size_t>(shape.cluster_features));
    std::vector<uint8_t> mask(static_cast<size_t>(shape.actions())), exploration_mask(mask.size());
    std::vector<int32_t> slots(static_cast<size_t>(shape.rows));
    task_->on_events(view, memory.data());
    task_->begin_round(view, memory.data());
    int32_t placed = kNone;
    while (task_->needs_action(view, memory.data())) {
      Observation o{};
      o.jobs = jobs.data();
      o.cluster = cluster.data();
      o.mask = mask.data();
      o.slots = slots.data();
      std::ranges::fill(exploration_mask, uint8_t{0});
      o.exploration_mask = exploration_mask.data();
      o.filled = shape.rows;
      task_->observe(view, memory.data(), o);
      const auto row = [&](int32_t r) { return jobs.data() + r * shape.row_features; };
      const bool exchanges = row(0)[kExchanges] == 1;
      const auto action = static_cast<int32_t>(rng_.below(static_cast<uint32_t>(o.choices)));
      const int32_t slot = slots[static_cast<size_t>(action)];
      EXPECT_EQ(mask.back(), 0) << "jobs that fit are started";
      EXPECT_EQ(std::ranges::count(exploration_mask, 1), 1) << "where the model is least certain";
      const auto explored = static_cast<int32_t>(std::ranges::max_element(exploration_mask) -
                                                 exploration_mask.begin());
      for (int32_t r = 0; r < o.choices; ++r) {
        EXPECT_LE(row(r)[kVariance], row(explored)[kVariance]);
        num_predicted_ += row(r)[kPredicted] != 0 || row(r)[kVariance] != 0;
      }
      if (exchanges) {
        EXPECT_EQ(slot, placed) << "placed in this decision";
        ++exchanges_;
      }
      task_->apply(view, memory.data(), action, draft);
      if (exchanges) {
        EXPECT_TRUE(view.holds(slot));
        EXPECT_EQ(view.exchange(slot).all_reduce == Pattern::kTree, row(action)[kTree] == 1);
        EXPECT_EQ(view.exchange(slot).priority, std::lround(3 * row(action)[kPriority]));
        EXPECT_TRUE(row(action)[kNodes] > 0 || row(action)[kPriority] == 0)
            << "priorities apply to links";
      }
      placed = view.holds(slot) ? kNone : slot;
    }
    task_->commit(view, memory.data(), draft);
  }

  int exchanges() const { return exchanges_; }
  int num_predicted() const { return num_predicted_; }

 private:
  std::shared_ptr<const RowTask> task_;
  mutable Rng rng_{5};
  mutable int exchanges_ = 0, num_predicted_ = 0;
};

class Meta : public ::testing::Test {
 protected:
  const RandomPolicy& play(const std::vector<std::string>& settings, bool choose = true) {
    const std::vector<Job> jobs = generate_rings({}, {.seed = 4, .jobs = 80});
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
  EXPECT_EQ(play({}).exchanges(), multi_gpu_jobs_) << "once for each job of several GPUs";
  EXPECT_GT(policy_->num_predicted(), 0);
}

TEST_F(Meta, SkipsTheExchangeDecisionIfFixedOrDisabled) {
  EXPECT_EQ(play({"second_head=false"}).exchanges(), 0);
  EXPECT_EQ(play({}, false).exchanges(), 0);
}

TEST_F(Meta, HidesPredictionsIfDisabled) { EXPECT_EQ(play({"model=false"}).num_predicted(), 0); }

}  // namespace
}  // namespace yard::testing
