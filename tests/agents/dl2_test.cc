// Checks the agent dl2: untrained it decides as DRF, rewards sum to the number of jobs, and actions
// set the sizes of jobs.
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "agents/rollout/vector_env.h"
#include "agents/train/trainable_agent.h"
#include "env/task/agent.h"
#include "env/trace/generators/servers.h"
#include "policies/policy.h"
#include "tests/agents/problems.h"
#include "tests/support/agent_steps.h"
#include "tests/support/worlds.h"

namespace yard::testing {
namespace {

constexpr int kActionsPerJob = 3;  // actions per job: add a worker, a server, or both

Scene servers_scene(int jobs) {
  ParameterServerJobsParams p;
  p.jobs = jobs;
  return Scene(load_cluster("servers-6"),
               generate_parameter_server_jobs(p, {.seed = 5, .cluster_gpus = 12}), no_costs());
}

std::unique_ptr<VectorEnv> worlds_of(const Scene& scene, int jobs) {
  return TrainableAgent("dl2", {}).make_environments(
      {{scene.fixed(), &scene.workload(), 1}},
      {.worlds = 1, .episode_jobs = jobs, .wait_at_end = true, .seed = 4});
}

// Plays an episode with the actions of `choose`. Returns the sum of its rewards.
template <class Choose>
double play(VectorEnv& worlds, const Choose& choose) {
  worlds.reset();
  double total_reward = 0;
  while (!worlds.is_done(0)) {
    worlds.step(std::vector<int32_t>{choose(worlds.observations())});
    EXPECT_GE(worlds.observations().reward[0], -1e-6);
    total_reward += worlds.observations().reward[0];
  }
  return total_reward;
}

// Checks that the expert's actions give DRF's mean JCT. Returns the largest number of shown jobs.
int expect_expert_is_drf(const Scene& scene, int jobs) {
  const auto worlds = worlds_of(scene, jobs);
  int shown = 0;
  play(*worlds, [&](const Observations& observations) {
    shown = std::max(shown, observations.rows[0] / kActionsPerJob);
    return observations.expert_action[0];
  });
  const auto drf = make_policy("drf share=job");
  SceneRunner runner(scene, *drf);
  runner.play();
  EXPECT_FALSE(runner.failed());
  const double mean_s = 1e-6 * static_cast<double>(total_jct_us(scene, runner.jobs())) / jobs;
  EXPECT_NEAR(worlds->take_mean_jcts_s().at(0), mean_s, 1e-6 * mean_s);
  return shown;
}

TEST(Dl2, ExpertMatchesDrf) { expect_expert_is_drf(servers_scene(20), 20); }

// Three times as many jobs as an observation shows: the others must get their sizes, too.
TEST(Dl2, ExpertMatchesDrfWithMoreJobsThanRows) {
  ParameterServerJobsParams p;
  p.jobs = 90;
  p.load = 8;
  p.most = 4;
  std::vector<Job> jobs = generate_parameter_server_jobs(p, {.seed = 5, .cluster_gpus = 128});
  int64_t at_us = 0;
  for (Job& job : jobs) job.submit_us = at_us += 1'000'000;
  EXPECT_EQ(expect_expert_is_drf(Scene("16x8", jobs, no_costs()), 90), 30);
}

// With stop costs: rewards still sum to the number of jobs when jobs stop to change size.
TEST(Dl2, RewardsSumToTheJobsDespiteStopCosts) {
  ParameterServerJobsParams p;
  p.jobs = 30;
  const Scene scene(load_cluster("servers-6"),
                    generate_parameter_server_jobs(p, {.seed = 5, .cluster_gpus = 12}));
  const auto worlds = worlds_of(scene, 30);
  const double total_reward =
      play(*worlds, [](const Observations& observations) { return observations.expert_action[0]; });
  EXPECT_NEAR(total_reward, 30, 1e-4) << "rewards are floats";
}

TEST(Dl2, RewardIsTheTrainedShareOfEachJob) {
  const Scene scene = servers_scene(12);
  const auto worlds = worlds_of(scene, 12);
  for (const int nothing : {0, 1}) {
    const double total_reward = play(*worlds, [nothing](const Observations& observations) {
      return nothing == 0 ? observations.expert_action[0] : 30 * kActionsPerJob;
    });
    EXPECT_NEAR(total_reward, 12, 1e-4) << "rewards are floats";
    worlds->begin_next_episodes();
  }
}

// Returns the actions in the exploration mask after `workers` and `servers` were added to a single
// job with one of each.
std::vector<int32_t> exploration_mask_after(int workers, int servers) {
  const Scene scene = servers_scene(1);
  const auto worlds = TrainableAgent("dl2", {}).make_environments(
      {{scene.fixed(), &scene.workload(), 1}},
      {.worlds = 1, .episode_jobs = 1, .wait_at_end = true, .exploration_mask = true, .seed = 4});
  worlds->reset();
  for (int k = 0; k < workers; ++k) worlds->step(std::vector<int32_t>{0});
  for (int k = 0; k < servers; ++k) worlds->step(std::vector<int32_t>{1});
  std::vector<int32_t> out;
  for (size_t a = 0; a < worlds->observations().exploration_mask.size(); ++a) {
    if (worlds->observations().exploration_mask[a] != 0) out.push_back(static_cast<int32_t>(a));
  }
  return out;
}

TEST(Dl2, ExplorationMaskBalancesWorkersAndServers) {
  using Rows = std::vector<int32_t>;
  EXPECT_EQ(exploration_mask_after(0, 0), Rows{});
  EXPECT_EQ(exploration_mask_after(9, 0), Rows{});      // 10 workers, 1 server
  EXPECT_EQ(exploration_mask_after(10, 0), (Rows{1}));  // 11 workers, 1 server: add a server
  EXPECT_EQ(exploration_mask_after(10, 1), Rows{});
  EXPECT_EQ(exploration_mask_after(0, 10), (Rows{0}));  // 1 worker, 11 servers: add a worker
}

// Plays the same actions at every decision.
class Scripted final : public Policy {
 public:
  explicit Scripted(std::vector<int32_t> actions)
      : agent_(make_agent("dl2", {})), actions_(std::move(actions)) {}

  InformationLevel level() const override { return agent_->level(); }
  void decide(const View& view, Memory&, Draft& draft) const override {
    std::vector<std::byte> memory(agent_->memory_bytes(view));
    AgentSteps steps(*agent_, view, memory.data());
    for (const int32_t action : actions_) {
      EXPECT_TRUE(steps.next());
      steps.apply(action, draft);
    }
    EXPECT_FALSE(steps.next());
    steps.commit(draft);
  }

 private:
  std::shared_ptr<const Agent> agent_;
  std::vector<int32_t> actions_;
};

// Without actions a job runs at its minimum size. Each action adds one task, or one of each role.
TEST(Dl2, ActionsSetJobSizes) {
  const Scene scene = servers_scene(1);
  const auto sizes_after = [&](const std::vector<int32_t>& actions) {
    const Scripted policy(actions);
    SceneRunner runner(scene, policy);
    runner.advance();
    runner.decide();
    const int32_t slot = runner.view().holder_slot(0);
    return std::pair(runner.view().held_tasks(slot, 1), runner.view().held_tasks(slot, 0));
  };
  constexpr int kNoOp = 90;
  EXPECT_EQ(sizes_after({kNoOp}), std::pair(1, 1));  // workers, servers
  EXPECT_EQ(sizes_after({0, kNoOp}), std::pair(2, 1));
  EXPECT_EQ(sizes_after({1, 1, kNoOp}), std::pair(1, 3));
  EXPECT_EQ(sizes_after({2, 0, 1, 2, kNoOp}), std::pair(4, 4));
}

}  // namespace
}  // namespace yard::testing
