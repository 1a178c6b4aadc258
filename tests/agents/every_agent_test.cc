// Checks every agent: the contract of its environments, and checkpoints that play as
// they were trained.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "agents/rollout/batch_vector_env.h"
#include "agents/train/trainable_agent.h"
#include "agents/train/trainer.h"
#include "agents/verify/torch_difference.h"
#include "env/base/core/error.h"
#include "env/base/files/file.h"
#include "env/task/agent.h"
#include "env/trace/generators/servers.h"
#include "policies/learned/learned_policy.h"
#include "tests/agents/problems.h"
#include "tests/support/checkpoints.h"
#include "tests/support/futures.h"
#include "tests/support/worlds.h"

namespace yard::testing {
namespace {

constexpr int kWorlds = 6;

// Plain jobs, mixed with elastic jobs with parameter servers.
Scene busy_scene() {
  std::vector<Job> jobs = busy_jobs(40);
  ParameterServerJobsParams p;
  p.mean_min = 15;
  for (Job job : generate_parameter_server_jobs(p, {.seed = 3, .jobs = 20, .cluster_gpus = 32})) {
    job.id = "server" + job.id;
    jobs.push_back(job);
  }
  std::ranges::stable_sort(jobs, {}, &Job::submit_us);
  return Scene("4x8", jobs);
}

std::unique_ptr<VectorEnv> worlds_of(const std::string& agent, const Scene& scene,
                                     int max_decisions) {
  return TrainableAgent(agent, {}).make_environments({{scene.fixed(), &scene.workload(), 1}},
                                                     {.worlds = kWorlds,
                                                      .episode_jobs = 30,
                                                      .max_decisions = max_decisions,
                                                      .wait_at_end = max_decisions == 0,
                                                      .exploration_mask = true,
                                                      .seed = 4});
}

// Random legal actions, which depend only on the world, the step and the mask.
std::vector<int32_t> random_actions(const VectorEnv& worlds, uint64_t step) {
  const int32_t actions = worlds.shape().actions();
  std::vector<int32_t> out(kWorlds, 0);
  for (int n = 0; n < kWorlds; ++n) {
    if (worlds.is_done(n)) continue;
    Rng rng = Rng{8}.split(static_cast<uint64_t>(n)).split(step);
    const uint8_t* mask = worlds.observations().mask.data() + n * actions;
    int32_t& action = out[static_cast<size_t>(n)];
    do {
      action = static_cast<int32_t>(rng.below(static_cast<uint32_t>(actions)));
    } while (mask[action] == 0);
  }
  return out;
}

class EveryAgent : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryAgent, ShowsExistingRowsAndSuggestsLegalActions) {
  const Scene scene = busy_scene();
  const auto worlds = worlds_of(GetParam(), scene, 0);
  const ObservationShape shape = worlds->shape();
  const auto window = size_t(shape.rows) * size_t(shape.row_features);
  worlds->reset();
  int asked = 0;
  for (uint64_t step = 0; step < 100'000; ++step) {
    const Observations observations = worlds->observations();
    bool any = false;
    for (size_t n = 0; n < kWorlds; ++n) {
      if (worlds->is_done(static_cast<int>(n))) continue;
      any = true;
      ++asked;
      const auto a = n * size_t(shape.actions());
      ASSERT_EQ(observations.mask[a + size_t(observations.expert_action[n])], 1);
      const auto rows = size_t(observations.rows[n]);
      for (size_t r = rows; r < size_t(shape.rows); ++r) ASSERT_EQ(observations.mask[a + r], 0);
      for (size_t i = 0; i < window; ++i) {
        const float f = observations.jobs[n * window + i];
        ASSERT_TRUE(std::abs(f) <= 64) << f;
        ASSERT_TRUE(f == 0 || i < rows * size_t(shape.row_features));
      }
      for (size_t action = 0; action < size_t(shape.actions()); ++action) {
        ASSERT_EQ(observations.prior[a + action] <= kMaskedLogit / 2,
                  observations.mask[a + action] == 0);
      }
    }
    if (!any) break;
    worlds->step(random_actions(*worlds, step));
  }
  EXPECT_GT(asked, 100);
}

// A saved world, one restored from it and one that was never saved are the same.
TEST_P(EveryAgent, SavedWorldsResumeIdentically) {
  const Scene scene = busy_scene();
  const auto worlds = worlds_of(GetParam(), scene, 50), restored = worlds_of(GetParam(), scene, 50),
             untouched = worlds_of(GetParam(), scene, 50);
  for (VectorEnv* each : {worlds.get(), restored.get(), untouched.get()}) each->reset();
  for (uint64_t step = 0; step < 70; ++step) {
    untouched->step(random_actions(*untouched, step));
    worlds->step(random_actions(*worlds, step));
  }
  for (uint64_t step = 70; step < 200; ++step) {
    if (step % 10 == 0) restored->restore(worlds->save());
    const std::vector<int32_t> actions = random_actions(*worlds, step);
    worlds->step(actions);
    const Observations seen = worlds->observations();
    for (VectorEnv* other : {restored.get(), untouched.get()}) {
      ASSERT_EQ(random_actions(*other, step), actions);
      other->step(actions);
      const Observations same = other->observations();
      ASSERT_TRUE(std::ranges::equal(seen.jobs, same.jobs)) << step;
      ASSERT_TRUE(std::ranges::equal(seen.cluster, same.cluster)) << step;
      ASSERT_TRUE(std::ranges::equal(seen.reward, same.reward)) << step;
      ASSERT_TRUE(std::ranges::equal(seen.exploration_mask, same.exploration_mask)) << step;
    }
  }
}

// Everything that one world shows.
std::vector<float> shown(const VectorEnv& worlds, int world) {
  const Observations observations = worlds.observations();
  const ObservationShape shape = worlds.shape();
  const auto n = static_cast<size_t>(world);
  std::vector<float> out = {static_cast<float>(worlds.elapsed_s(world)), observations.reward[n],
                            static_cast<float>(observations.rows[n]),
                            static_cast<float>(observations.expert_action[n])};
  const auto add = [&](const auto& all, int32_t width) {
    for (const auto x : all.subspan(n * size_t(width), size_t(width))) out.push_back(x);
  };
  add(observations.jobs, shape.rows * shape.row_features);
  add(observations.cluster, shape.cluster_features);
  add(observations.prior, shape.actions());
  add(observations.mask, shape.actions());
  add(observations.exploration_mask, shape.actions());
  return out;
}

// Workloads that are equal up to a time show the same until then, whatever the actions.
TEST_P(EveryAgent, ObservesNothingOfTheFuture) {
  int compared = 0, differ = 0;
  for (uint64_t trial = 0; trial < 24; ++trial) {
    FutureOptions options{.tenants = trial % 2 == 1, .models = trial % 3 == 1, .world = {}};
    options.world.jobs = 80;
    int64_t until_us = 0;
    const auto pairs = forked_worlds(Rng(67).split(trial), options, until_us);
    const ForkableScene now(pairs[0].now), then(pairs[0].then);
    const auto worlds_of_scene = [&](const ForkableScene& random_scene) {
      const Scene& scene = random_scene.scene();
      return TrainableAgent(GetParam(), {})
          .make_environments({{scene.fixed(), &scene.workload(), 1}},
                             {.worlds = kWorlds,
                              .episode_jobs = static_cast<int>(pairs[0].now.world.jobs.size()),
                              .wait_at_end = true,
                              .exploration_mask = true,
                              .seed = trial});
    };
    const auto a = worlds_of_scene(now), b = worlds_of_scene(then);
    try {
      a->reset();
      b->reset();
    } catch (const InputError&) {
      continue;  // nothing to decide in either: no elastic jobs for dl2
    }
    const double until_s = 1e-6 * static_cast<double>(until_us);
    std::vector<char> done(kWorlds, 0);
    for (uint64_t t = 0; t < 2000 && std::ranges::count(done, 1) < kWorlds; ++t) {
      for (int n = 0; n < kWorlds; ++n) {
        char& over = done[static_cast<size_t>(n)];
        if (over != 0) continue;
        const bool before = a->elapsed_s(n) <= until_s || b->elapsed_s(n) <= until_s;
        const bool same = !a->is_done(n) && !b->is_done(n) && shown(*a, n) == shown(*b, n);
        compared += before;
        over = !same;
        if (over == 0) continue;
        EXPECT_FALSE(before) << "world " << n << " at " << a->elapsed_s(n) << " of " << until_s;
        ++differ;
      }
      const std::vector<int32_t> actions = random_actions(*a, t);
      a->step(actions);
      b->step(random_actions(*b, t));
    }
  }
  EXPECT_GT(compared, 60);
  EXPECT_GT(differ, kWorlds) << "the futures are the same";
}

struct AgentSetup {
  TrainConfig loop;
  std::string agent, network = "job-scorer";
  std::vector<std::string> learner = {"num_steps=32"};
  std::vector<std::string> task = {};
};

AgentSetup agent_setup(const std::string& agent) {
  AgentSetup setup{.loop = {}, .agent = agent};
  TrainConfig& c = setup.loop;
  c.learner = "ppo";
  c.num_envs = 16;
  c.threads = 1;
  c.group = 8;
  c.updates = 12;
  c.average = 0;
  c.episode_jobs = 7;
  c.optimizer_config.learning_rate = 0.02;
  c.optimizer_config.minibatch_size = 64;
  c.optimizer_config.target_kl = 0.2;
  return setup;
}

// Saves and resumes the training after `stopped_after` updates; 0: trains without a stop.
Checkpoint train(const AgentSetup& setup, const Scene& scene, int stopped_after = 0) {
  const TrainableAgent agent(setup.agent, settings_of(setup.task));
  const auto ranks = single_process_communicator();
  TrainConfig loop = setup.loop;
  loop.network = setup.network;
  const auto make = [&] {
    return Trainer(loop, settings_of(setup.learner), settings_of({"hidden=16"}),
                   [&](const VectorEnvOptions& o) {
                     return agent.make_environments({{scene.fixed(), &scene.workload(), 1}}, o);
                   },
                   *ranks, {{"made_by", "test"}});
  };
  Trainer trainer = make();
  if (stopped_after > 0) {
    const Scratch scratch;
    Trainer first = make();
    first.run({}, stopped_after);
    first.save(scratch.path() / "state");
    trainer.restore(scratch.path() / "state");
  }
  trainer.run({});
  return agent.checkpoint(trainer.trained());
}

int64_t total_us(const Checkpoint& checkpoint, const Scene& scene) {
  const auto policy = policy_of(checkpoint, "test");
  SceneRunner runner(scene, *policy);
  runner.play();
  EXPECT_FALSE(runner.failed());
  return total_jct_us(scene, runner.jobs());
}

// A saved and loaded checkpoint plays the same, and the native network agrees with LibTorch.
TEST_P(EveryAgent, CheckpointPlaysIdentically) {
  const Scene scene = busy_scene();
  AgentSetup setup = agent_setup(GetParam());
  setup.loop.updates = 2;
  setup.loop.episode_jobs = 30;
  const Checkpoint trained = train(setup, scene);
  const std::string folder = ::testing::TempDir() + "row-" + GetParam();
  std::filesystem::remove_all(folder);
  save_checkpoint(trained, folder);
  const Checkpoint read = load_checkpoint(folder);
  EXPECT_EQ(read.agent, GetParam());
  EXPECT_LT(torch_difference_from_golden(read), 1e-4);
  EXPECT_EQ(total_us(read, scene), total_us(trained, scene));
  EXPECT_EQ(policy_info(read).level, make_agent(GetParam(), {})->level());
}

// With exploration, training gives the same weights when resumed and on several threads.
TEST_P(EveryAgent, ExplorationDoesNotDependOnResumesOrThreads) {
  const Scene scene = busy_scene();
  for (const char* learner : {"ppo", "actor-critic"}) {
    AgentSetup setup = agent_setup(GetParam());
    setup.loop.learner = learner;
    setup.loop.updates = 4;
    setup.loop.episode_jobs = 30;
    setup.learner = {"num_steps=32", "explore=0.4"};
    const Tensors straight = train(setup, scene).weights;
    setup.loop.threads = 3;
    for (const auto& [name, tensor] : train(setup, scene, 2).weights) {
      EXPECT_EQ(tensor.data, straight.at(name).data) << learner << ' ' << name;
    }
  }
}

// Untrained, an agent decides as its heuristic, with which training is compared.
void expect_begins_as_its_heuristic(AgentSetup setup) {
  const Scene scene = busy_scene();
  setup.loop.updates = 1;
  setup.loop.optimizer_config.learning_rate = 0;
  const auto heuristic = TrainableAgent(setup.agent, settings_of(setup.task)).expert();
  SceneRunner runner(scene, *heuristic);
  runner.play();
  ASSERT_FALSE(runner.failed());
  const auto expected = static_cast<double>(total_jct_us(scene, runner.jobs()));
  // The dispatcher's margin and rows differ from those of srsf-history.
  const double tolerance = setup.agent == "dispatcher" ? 0.05 : 0;
  EXPECT_NEAR(static_cast<double>(total_us(train(setup, scene), scene)), expected,
              tolerance * expected);
}

TEST_P(EveryAgent, UntrainedMatchesItsHeuristic) {
  expect_begins_as_its_heuristic(agent_setup(GetParam()));
}

TEST(Sched2, UntrainedWithoutLocalityMatchesItsHeuristic) {
  AgentSetup setup = agent_setup("sched2");
  setup.task = {"locality=false"};
  expect_begins_as_its_heuristic(setup);
}

TEST_P(EveryAgent, NamesAnUnknownSetting) {
  Settings settings;
  settings.set("colour", "red", "test");
  try {
    make_agent(GetParam(), settings);
    FAIL() << "taken";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("colour"), std::string::npos) << error.what();
  }
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryAgent, ::testing::ValuesIn(AgentRegistry::names()),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::erase(name, '-');
                           return name;
                         });

// One job fits at a time. The short jobs, last in the queue, should start first.
TEST(ExampleAgent, LearnsToStartShortJobsFirst) {
  const Scene scene("1x8",
                    jobs_of({{0, 5, 2000},
                             {0, 5, 2000},
                             {0, 5, 2000},
                             {0, 8, 100},
                             {0, 8, 100},
                             {0, 8, 100},
                             {0, 8, 100}}),
                    no_costs());
  AgentSetup frozen_setup = agent_setup("next-job");
  frozen_setup.loop.optimizer_config.learning_rate = 0;
  frozen_setup.loop.updates = 1;
  const Checkpoint trained = train(agent_setup("next-job"), scene);
  // The optimum: jobs end at 100, 200, 300, 400, 2400, 4400 and 6400 s.
  EXPECT_LT(total_us(trained, scene), total_us(train(frozen_setup, scene), scene));
  EXPECT_EQ(total_us(trained, scene), 14'200'000'000);
}

// Without elastic jobs dl2 has no sizes to choose.
TEST(Agents, RejectWorkloadsWithoutDecisions) {
  const Scene scene("4x8", busy_jobs(30));
  const auto worlds = worlds_of("dl2", scene, 0);
  EXPECT_THROW(worlds->reset(), InputError);
}

TEST(ExampleAgent, MatchesTheDocumentation) {
  const std::string code = read_file("tests/agents/example_agent.cc");
  EXPECT_NE(read_file("docs/tutorials/first-agent.md").find(code), std::string::npos);
}

TEST(Agents, AllKindsAreFoundByName) {
  const std::vector<std::string> names = AgentRegistry::names();
  for (const char* name : {"pilot", "dispatcher", "sched2", "next-job"}) {
    EXPECT_NE(std::ranges::find(names, name), names.end()) << name;
    EXPECT_FALSE(agent_info(name).about.empty());
    EXPECT_GT(make_agent(name, {})->shape().rows, 0);
  }
  EXPECT_THROW(make_agent("pilots", {}), InputError);
  EXPECT_THROW(agent_info("pilots"), InputError);
}

}  // namespace
}  // namespace yard::testing
