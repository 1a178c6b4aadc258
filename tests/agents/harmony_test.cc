// Checks the agent harmony: tasks are placed one by one, jobs start whole, and rewards sum to the
// number of jobs.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "agents/rollout/vector_env.h"
#include "agents/train/trainable_agent.h"
#include "env/sim/placement/task_placer.h"
#include "env/task/agent.h"
#include "env/trace/generators/servers.h"
#include "policies/policy.h"
#include "tests/agents/problems.h"
#include "tests/support/agent_steps.h"
#include "tests/support/worlds.h"

namespace yard::testing {
namespace {

Scene fixed_sizes(int jobs) {
  ParameterServerJobsParams p;
  p.jobs = jobs;
  p.most = 0;
  p.drawn = true;
  p.workers = 3;
  return Scene(load_cluster("servers-6"),
               generate_parameter_server_jobs(p, {.seed = 5, .cluster_gpus = 12}), no_costs());
}

// Applies the actions of `pick` until none is needed, and counts the placed tasks.
class Placing final : public Policy {
 public:
  using Pick = std::function<int32_t(int32_t choices)>;
  explicit Placing(Pick pick) : agent_(make_agent("harmony", {})), pick_(std::move(pick)) {}

  InformationLevel level() const override { return agent_->level(); }

  void decide(const View& view, Memory&, Draft& draft) const override {
    std::vector<std::byte> memory(agent_->memory_bytes(view));
    AgentSteps steps(*agent_, view, memory.data());
    int32_t begun = kNone, left = 0;
    while (steps.next()) {
      const int32_t action = pick_(steps.list.size());
      const int32_t slot = steps.slots[static_cast<size_t>(action)];
      // Once the first task of a job is placed, its others follow until the job starts.
      if (begun != kNone) {
        EXPECT_EQ(slot, begun);
      }
      if (begun == kNone) left = view.total_requested_tasks(slot);
      begun = slot;
      const int32_t held = view.num_holders();
      steps.apply(action, draft);
      ++tasks_;
      if (--left == 0) {
        EXPECT_EQ(view.num_holders(), held + 1);
        begun = kNone;
      } else {
        EXPECT_EQ(view.num_holders(), held);
      }
    }
    EXPECT_EQ(begun, kNone);
    // No job that fits is left waiting.
    for (int32_t s = view.queue_head(); s != kNone; s = view.queue_next(s)) {
      std::vector<Piece> room(64);
      const auto any = [](const TaskPlacer::CandidateNode&) { return 0.0; };
      EXPECT_EQ(TaskPlacer(view).place(s, {}, any, room.data()), 0);
    }
    steps.commit(draft);
  }

  int tasks() const { return tasks_; }

 private:
  std::shared_ptr<const Agent> agent_;
  Pick pick_;
  mutable int tasks_ = 0;
};

TEST(Harmony, PlacesEveryTaskOfEveryJob) {
  const Scene scene = fixed_sizes(60);
  int tasks = 0;
  for (const Job& job : scene.jobs()) tasks += job.groups[0].count + job.groups[1].count;
  for (const uint64_t seed : {1, 2, 3}) {
    Rng rng(seed);
    const Placing policy([&rng](int32_t choices) {
      return static_cast<int32_t>(rng.below(static_cast<uint32_t>(choices)));
    });
    SceneRunner runner(scene, policy);
    runner.play();
    EXPECT_FALSE(runner.failed());
    EXPECT_EQ(policy.tasks(), tasks);
  }
}

// Untrained, jobs without role groups also go where load balancing puts them.
TEST(Harmony, ExpertMatchesLeastLoadedOnPlainJobs) {
  std::vector<Job> jobs = busy_jobs(60);
  for (Job& job : jobs) job.gpus = std::min(job.gpus, 12);
  const Scene scene(load_cluster("6x8"), jobs, no_costs());
  const auto worlds =
      TrainableAgent("harmony", {})
          .make_environments({{scene.fixed(), &scene.workload(), 1}},
                             {.worlds = 1, .episode_jobs = 60, .wait_at_end = true, .seed = 4});
  worlds->reset();
  while (!worlds->is_done(0)) {
    worlds->step(std::vector<int32_t>{worlds->observations().expert_action[0]});
  }
  const auto policy = make_policy("least-loaded");
  SceneRunner runner(scene, *policy);
  runner.play();
  ASSERT_FALSE(runner.failed());
  const double mean_s = 1e-6 * static_cast<double>(total_jct_us(scene, runner.jobs())) / 60;
  EXPECT_NEAR(worlds->take_mean_jcts_s().at(0), mean_s, 1e-6 * mean_s);
}

// Jobs with more tasks or roles than there are actions, on a cluster with one GPU type per job.
TEST(Harmony, EveryJobFinishes) {
  std::vector<Job> jobs = busy_jobs(30);
  jobs[3].gpus = 96;
  RoleGroup group;
  group.task.gpus = 1;
  jobs[5].gpus = 3;
  for (const char* role : {"a", "b", "c"}) {
    group.role = role;
    jobs[5].groups.push_back(group);
  }
  ClusterSpec cluster = load_cluster("16x8:v100+16x8:k80");
  cluster.one_type = true;
  const Scene scene(cluster, jobs, no_costs());
  const auto worlds =
      TrainableAgent("harmony", {})
          .make_environments({{scene.fixed(), &scene.workload(), 1}},
                             {.worlds = 1, .episode_jobs = 30, .wait_at_end = true, .seed = 4});
  for (const bool random : {false, true}) {
    worlds->reset();
    Rng rng(7);
    for (int step = 0; !worlds->is_done(0); ++step) {
      ASSERT_LT(step, 100'000);
      const Observations observations = worlds->observations();
      const auto drawn =
          static_cast<int32_t>(rng.below(static_cast<uint32_t>(observations.rows[0])));
      worlds->step(std::vector<int32_t>{random ? drawn : observations.expert_action[0]});
    }
    EXPECT_EQ(worlds->take_mean_jcts_s().size(), 1u);
  }
}

// The actions in the exploration mask of the current decision.
std::vector<int32_t> explored_actions(const VectorEnv& worlds) {
  std::vector<int32_t> out;
  for (size_t a = 0; a < worlds.observations().exploration_mask.size(); ++a) {
    if (worlds.observations().exploration_mask[a] != 0) out.push_back(static_cast<int32_t>(a));
  }
  return out;
}

// With a job on the first of six servers, packing puts the next job's tasks on the same server
// while they fit, and load balancing on the second. Rows are servers, one role after the other.
TEST(Harmony, ExplorationMaskOffersPackingAndBalancing) {
  ParameterServerJobsParams p;
  p.most = 0;
  p.workers = p.servers = 1;
  std::vector<Job> jobs =
      generate_parameter_server_jobs(p, {.seed = 5, .jobs = 3, .cluster_gpus = 12});
  for (size_t i = 0; i < jobs.size(); ++i) {
    jobs[i].submit_us = static_cast<int64_t>(i) * kSecond;
    jobs[i].run_us = 1000 * kSecond;
  }
  const Scene scene(load_cluster("servers-6"), jobs, no_costs());
  const auto worlds =
      TrainableAgent("harmony", {})
          .make_environments({{scene.fixed(), &scene.workload(), 1}}, {.worlds = 1,
                                                                       .episode_jobs = 3,
                                                                       .wait_at_end = true,
                                                                       .exploration_mask = true,
                                                                       .seed = 4});
  worlds->reset();
  using Rows = std::vector<int32_t>;
  const auto step = [&](int32_t action) { worlds->step(std::vector<int32_t>{action}); };
  EXPECT_EQ(explored_actions(*worlds), (Rows{0}));  // all servers are empty
  step(0);
  EXPECT_EQ(explored_actions(*worlds), (Rows{0, 1}));  // the other role: on the same server or not
  step(0);
  EXPECT_EQ(worlds->observations().rows[0], 12);
  EXPECT_EQ(explored_actions(*worlds), (Rows{0, 1}));
  step(1);
  EXPECT_EQ(worlds->observations().rows[0], 6);
  EXPECT_EQ(explored_actions(*worlds), (Rows{0, 2}));
  step(0);
  // The first server has no free GPUs but free cores: a task without GPUs is packed there.
  EXPECT_EQ(worlds->observations().rows[0], 11);
  EXPECT_EQ(explored_actions(*worlds), (Rows{0, 2}));
  step(5);
  EXPECT_EQ(explored_actions(*worlds), (Rows{0, 1}));  // servers two to six
}

TEST(Harmony, RewardIsTheTrainedShareOfEachJob) {
  const Scene scene = fixed_sizes(20);
  const auto worlds =
      TrainableAgent("harmony", {})
          .make_environments({{scene.fixed(), &scene.workload(), 1}},
                             {.worlds = 1, .episode_jobs = 20, .wait_at_end = true, .seed = 4});
  worlds->reset();
  double total_reward = 0;
  while (!worlds->is_done(0)) {
    worlds->step(std::vector<int32_t>{worlds->observations().expert_action[0]});
    total_reward += worlds->observations().reward[0];
  }
  EXPECT_NEAR(total_reward, 20, 1e-4) << "rewards are floats";
}

}  // namespace
}  // namespace yard::testing
