// Checks the whole training loop: from a bad start to a known optimum, resumed exactly, and stopped
// with a reason when it diverges.
#include "agents/train/trainer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "agents/rollout/batch_vector_env.h"
#include "agents/train/trainable_agent.h"
#include "agents/verify/torch_difference.h"
#include "env/base/core/error.h"
#include "env/base/files/file.h"
#include "policies/learned/untrained.h"
#include "tests/agents/problems.h"
#include "tests/support/checkpoints.h"
#include "tests/support/dispatcher.h"
#include "tests/support/worlds.h"

namespace yard::testing {
namespace {

using ::testing::HasSubstr;

// The settings of a training of `dispatcher`.
struct TrainingSetup {
  TrainConfig loop;
  std::vector<std::string> agent, learner, network = {"hidden=16"};

  TrainableAgent trainable() const { return {"dispatcher", settings_of(agent)}; }
};

TrainingSetup tiny_setup(const std::string& learner) {
  TrainingSetup setup;
  TrainConfig& c = setup.loop;
  c.learner = learner;
  c.num_envs = 16;
  c.threads = 1;
  c.group = 8;
  c.updates = 12;
  c.average = 0;
  c.optimizer_config.learning_rate = 0.02;
  c.optimizer_config.minibatch_size = 64;
  c.optimizer_config.target_kl = 0.2;
  if (learner == "ppo") setup.learner = {"num_steps=32"};
  if (learner == "dqn" || learner == "actor-critic")
    setup.learner = {"num_steps=32", "batch_size=8192"};
  return setup;
}

class Training {
 public:
  Training(const TrainingSetup& setup, const Scene& scene)
      : agent_(setup.trainable()),
        trainer_(
            setup.loop, settings_of(setup.learner), settings_of(setup.network),
            [&](const VectorEnvOptions& options) {
              return agent_.make_environments({{scene.fixed(), &scene.workload(), 1}}, options);
            },
            *ranks_, {{"made_by", "test"}}) {}

  Trainer& operator*() { return trainer_; }
  Trainer* operator->() { return &trainer_; }
  Checkpoint checkpoint() const { return agent_.checkpoint(trainer_.trained()); }

 private:
  std::unique_ptr<Communicator> ranks_ = single_process_communicator();
  TrainableAgent agent_;
  Trainer trainer_;
};

Checkpoint train(const TrainingSetup& setup, const Scene& scene) {
  Training training(setup, scene);
  training->run({});
  return training.checkpoint();
}

int64_t total_jct_of(const Checkpoint& checkpoint, const Scene& scene) {
  const auto pilot = policy_of(checkpoint, "test");
  SceneRunner runner(scene, *pilot);
  runner.play();
  EXPECT_FALSE(runner.failed());
  return total_jct_us(scene, runner.jobs());
}

// The lowest total JCT. No two of the jobs fit at once, so an order's total is the sum of its ends.
int64_t best_total_us(const std::vector<Job>& jobs) {
  std::vector<size_t> order(jobs.size());
  std::iota(order.begin(), order.end(), 0);
  int64_t best = INT64_MAX;
  do {
    int64_t clock_us = 0, total_jct_of = 0;
    for (const size_t j : order) {
      clock_us += jobs[j].run_us;
      total_jct_of += clock_us;
    }
    best = std::min(best, total_jct_of);
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

// Wide jobs are short here, but the untrained policy ranks them last for their GPUs.
class TinyCluster : public ::testing::TestWithParam<std::string> {};

TEST_P(TinyCluster, ReachesTheOptimumFromAPoorStart) {
  const std::vector<Job> jobs = jobs_of({{0, 5, 2000},
                                         {0, 8, 100},
                                         {0, 5, 2000},
                                         {0, 8, 100},
                                         {0, 5, 2000},
                                         {0, 8, 100},
                                         {0, 8, 100}});
  const Scene scene("1x8", jobs, no_costs());
  TrainingSetup setup = tiny_setup(GetParam());
  setup.loop.episode_jobs = 7;
  setup.agent = {"preempt=false"};
  const int64_t best_us = best_total_us(jobs);

  TrainingSetup frozen_setup = setup;
  frozen_setup.loop.optimizer_config.learning_rate = 0;
  frozen_setup.loop.updates = 1;
  EXPECT_GT(total_jct_of(train(frozen_setup, scene), scene), best_us * 3 / 2);
  EXPECT_EQ(total_jct_of(train(setup, scene), scene), best_us);
}

INSTANTIATE_TEST_SUITE_P(Trainer, TinyCluster, ::testing::Values("group", "ppo"),
                         [](const auto& info) { return info.param; });

// Enough worlds that observations and minibatches are divided into parts.
TEST(Trainer, WeightsDoNotDependOnThreads) {
  const Scene scene("4x8", busy_jobs(400));
  for (const auto& [learner, network] : {std::pair("ppo", "job-scorer"),
                                         {"ppo", "flat"},
                                         {"group", "job-scorer"},
                                         {"dqn", "job-scorer"},
                                         {"actor-critic", "job-scorer"}}) {
    TrainingSetup setup = tiny_setup(learner);
    setup.loop.network = network;
    setup.loop.num_envs = 512;
    setup.loop.updates = 2;
    setup.loop.episode_jobs = 100;
    setup.loop.optimizer_config.minibatch_size = 1'000'000;
    setup.loop.max_decisions = 40;
    const auto weights = [&](int threads) {
      setup.loop.threads = threads;
      Training training(setup, scene);
      double rows = 0;
      TrainCallbacks events;
      events.on_update = [&](const TrainStats& s) { rows = s.rows; };
      training->run(events);
      EXPECT_GT(rows * setup.loop.num_envs, 3072) << "observed in one part";
      return training.checkpoint().weights;
    };
    const Tensors of_one = weights(1);
    for (const int threads : {2, 3}) {
      for (const auto& [name, tensor] : weights(threads)) {
        EXPECT_EQ(tensor.data, of_one.at(name).data)
            << learner << ' ' << network << ' ' << threads << ' ' << name;
      }
    }
  }
}

// The rewards of an episode sum to minus the total JCT of its jobs, whatever the actions.
TEST(Reward, SumsToMinusTheTotalCompletionTime) {
  const Scene scene("2x8", busy_jobs(60));
  BatchVectorEnv worlds({{scene.fixed(), &scene.workload(), 1}},
                        {.worlds = 6, .episode_jobs = 30, .wait_at_end = true, .seed = 4},
                        dispatcher::agent());
  worlds.reset();
  std::vector<double> total_reward(6, 0.0);
  for (uint64_t step = 0; step < 100'000; ++step) {
    std::vector<int32_t> actions(6, 0);
    bool any = false;
    for (int n = 0; n < 6; ++n) {
      if (worlds.is_done(n)) continue;
      any = true;
      Rng rng = Rng{8}.split(static_cast<uint64_t>(n)).split(step);
      const uint8_t* mask = worlds.observations().mask.data() + n * dispatcher::kActions;
      do {
        actions[static_cast<size_t>(n)] = static_cast<int32_t>(rng.below(dispatcher::kActions));
      } while (mask[actions[static_cast<size_t>(n)]] == 0);
    }
    if (!any) break;
    worlds.step(actions);
    for (size_t n = 0; n < 6; ++n) total_reward[n] += worlds.observations().reward[n];
  }
  const std::vector<double> jcts_s = worlds.take_mean_jcts_s();
  ASSERT_EQ(jcts_s.size(), 6u);
  for (size_t n = 0; n < 6; ++n) {
    EXPECT_NEAR(total_reward[n], -30 * jcts_s[n], 1e-5 * 30 * jcts_s[n]) << "rewards are floats";
  }
}

TrainingSetup small_setup(const std::string& learner) {
  TrainingSetup setup = tiny_setup(learner == "ppo" ? "ppo" : learner);
  setup.loop.updates = 6;
  setup.loop.validate_every = 2;
  setup.loop.num_envs = 4;
  setup.loop.group = 2;
  setup.loop.episode_jobs = 30;
  setup.loop.average = 0.5;
  return setup;
}

// A replay that holds the samples of several updates, but not of all.
const std::vector<std::string> kReplays = {"num_steps=8", "buffer_size=100", "batch_size=64"};

struct Resumed {
  const char* name;
  const char* learner;
  std::vector<std::string> settings;
};

class Resume : public ::testing::TestWithParam<Resumed> {
 protected:
  TrainingSetup setup() const {
    TrainingSetup setup = small_setup(GetParam().learner);
    for (const std::string& setting : GetParam().settings) setup.learner.push_back(setting);
    return setup;
  }
};

// A saved state is complete: resumed after any update, a training gives the same states, file by
// file, and the same checkpoint.
TEST_P(Resume, IsIdenticalFromAnyUpdate) {
  const Scene scene("2x8", busy_jobs(80));
  const Scratch scratch;
  const auto state = [&](const std::string& of, int update) {
    return scratch.path() / (of + std::to_string(update));
  };
  TrainingSetup setup = this->setup();
  setup.loop.validate_every = 1;
  // Scores that vary, so that what depends on the best one is tested.
  const auto validate = [](const TrainingResult&, int update) { return 1 + 0.1 * (update % 3); };
  std::vector<std::string> files = {"network.pt", "mean_network.pt", "adam.pt",
                                    "golden.safetensors", "counters.json"};
  Training whole(setup, scene);
  TrainCallbacks events;
  events.validate = validate;
  events.save = [&] { whole->save(state("whole", whole->update())); };
  whole->run(events);
  const Checkpoint straight = whole.checkpoint();

  for (const int from : {1, 3, 5}) {
    Training second(setup, scene);
    second->restore(state("whole", from));
    EXPECT_EQ(second->update(), from);
    TrainCallbacks after;
    after.validate = validate;
    after.save = [&] { second->save(state("second", second->update())); };
    second->run(after);
    for (int u = from + 1; u <= setup.loop.updates; ++u) {
      for (const std::string& file : files) {
        EXPECT_TRUE(read_file(state("second", u) / file) == read_file(state("whole", u) / file))
            << file << " after update " << u << ", resumed after " << from;
      }
    }
    const Checkpoint resumed = second.checkpoint();
    EXPECT_EQ(resumed.provenance, straight.provenance);
    for (const auto& [name, t] : straight.weights) {
      EXPECT_EQ(resumed.weights.at(name).data, t.data) << name;
    }
    for (const auto& [name, t] : straight.golden) {
      EXPECT_EQ(resumed.golden.at(name).data, t.data) << name;
    }
    EXPECT_LT(torch_difference_from_golden(resumed), 1e-5);
  }
}

INSTANTIATE_TEST_SUITE_P(Trainer, Resume,
                         ::testing::Values(Resumed{"group", "group", {}}, Resumed{"ppo", "ppo", {}},
                                           Resumed{"average", "ppo", {"average_reward=true"}},
                                           Resumed{"relative", "ppo", {"relative_reward=true"}},
                                           Resumed{"clone", "clone", {}},
                                           Resumed{"dqn", "dqn", kReplays},
                                           Resumed{"actor_critic", "actor-critic", kReplays}),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(Trainer, RefusesTheStateOfAnotherTraining) {
  const Scene scene("2x8", busy_jobs(80));
  const TrainingSetup setup = small_setup("group");
  const Scratch scratch;
  const auto state = scratch.path() / "state";
  Training training(setup, scene);
  EXPECT_THROW(training->restore(scratch.path() / "nothing"), InputError);
  training->save(state);
  const auto refusal = [&](const TrainingSetup& other) -> std::string {
    try {
      Training(other, scene)->restore(state);
    } catch (const InputError& e) {
      return e.what();
    }
    return "taken";
  };
  TrainingSetup other = setup;
  other.network = {"hidden=8"};
  EXPECT_THAT(refusal(other), HasSubstr("network.pt"));
  other = setup;
  other.loop.num_envs = 8;
  EXPECT_THAT(refusal(other), HasSubstr("other or damaged environments"));
  other = setup;
  other.loop.learner = "ppo";
  EXPECT_THAT(refusal(other), HasSubstr("learner \"ppo\""));
  // Truncated and missing files.
  for (const char* name : {"adam.pt", "worlds-0.bin", "counters.json"}) {
    training->save(state);
    const std::string bytes = read_file(state / name);
    write_file_atomic(state / name, bytes.substr(0, bytes.size() / 2));
    EXPECT_THAT(refusal(setup), HasSubstr(name));
    std::filesystem::remove(state / name);
    EXPECT_THAT(refusal(setup), HasSubstr(name));
  }
  write_file_atomic(state / "files.json", "[1");
  EXPECT_THAT(refusal(setup), HasSubstr("files.json"));
}

TEST(Trainer, RejectsIncompatibleSettings) {
  const Scene scene("2x8", busy_jobs(80));
  const auto refusal = [&](auto&& change) -> std::string {
    TrainingSetup setup = small_setup("group");
    change(setup);
    try {
      Training(setup, scene)->run({});
    } catch (const InputError& e) {
      return e.what();
    }
    return "taken";
  };
  EXPECT_THAT(refusal([](TrainingSetup& p) { p.loop.num_envs = 5; }), HasSubstr("group = 2"));
  EXPECT_THAT(refusal([](TrainingSetup& p) { p.loop.group = 1; }),
              HasSubstr("group: expected at least 2"));
  EXPECT_THAT(refusal([](TrainingSetup& p) { p.loop.learner = "luck"; }),
              HasSubstr("clone, dqn, group, ppo"));
  EXPECT_THAT(refusal([](TrainingSetup& p) { p.loop.network = "luck"; }), HasSubstr("job-scorer"));
  EXPECT_THAT(refusal([](TrainingSetup& p) { p.learner = {"num_steps=4"}; }),
              HasSubstr("unknown key 'num_steps'"));
}

TEST(Trainer, ValidatesOnScheduleAndReportsTheBest) {
  const Scene scene("2x8", busy_jobs(80));
  Training training(small_setup("group"), scene);
  const std::vector<double> scores = {0.95, 0.9, 0.8, 0.85};  // the first: untrained
  size_t asked = 0;
  std::vector<std::pair<int, bool>> validated;
  std::vector<double> reported;
  TrainCallbacks events;
  events.validate = [&](const TrainingResult&, int update) {
    EXPECT_EQ(update, 2 * static_cast<int>(asked));
    return scores[asked++];
  };
  events.validated = [&](const TrainingResult&, int update, double score, bool best) {
    validated.emplace_back(update, best);
    EXPECT_EQ(score, scores[asked - 1]);
  };
  events.on_update = [&](const TrainStats& s) { reported.push_back(s.validation); };
  training->run(events);
  EXPECT_EQ(validated,
            (std::vector<std::pair<int, bool>>{{0, true}, {2, true}, {4, true}, {6, false}}));
  EXPECT_EQ(reported, (std::vector<double>{0.95, 0, 0.9, 0, 0.8, 0, 0.85}));
  EXPECT_EQ(training->untrained_score(), 0.95);
  EXPECT_TRUE(training->done());
}

// The network validated as update 0 decides as the untrained policy, which has no weights.
TEST(Trainer, UpdateZeroIsTheUntrainedNetwork) {
  const Scene scene("2x8", busy_jobs(80));
  for (const int updates : {0, 2}) {
    TrainingSetup setup = small_setup("group");
    setup.loop.updates = updates;
    Training training(setup, scene);
    std::vector<int> asked;
    TrainCallbacks events;
    events.validate = [&](const TrainingResult& trained, int update) {
      asked.push_back(update);
      if (update > 0) return 2.0;
      const Checkpoint first = setup.trainable().checkpoint(trained);
      EXPECT_FALSE(trained.golden.empty());
      EXPECT_EQ(total_jct_of(first, scene), total_jct_of(untrained_of(first), scene));
      return 1.0;
    };
    bool best_is_untrained = false;
    events.validated = [&](const TrainingResult&, int update, double, bool best) {
      if (best) best_is_untrained = update == 0;
    };
    training->run(events);
    EXPECT_EQ(asked.front(), 0);
    EXPECT_EQ(training->untrained_score(), 1);
    EXPECT_TRUE(best_is_untrained) << "no update was better";
    EXPECT_TRUE(training->done());
  }
}

TEST(Trainer, StopsWhenPatienceIsExhausted) {
  const Scene scene("2x8", busy_jobs(80));
  TrainingSetup setup = small_setup("group");
  setup.loop.updates = 20;
  setup.loop.validate_every = 1;
  setup.loop.patience = 3;
  Training training(setup, scene);
  TrainCallbacks events;
  // Update 2 is the best; 3, 4 and 5 are no better.
  events.validate = [](const TrainingResult&, int update) { return update == 2 ? 0.5 : 0.9; };
  training->run(events);
  EXPECT_EQ(training->update(), 5);
  EXPECT_TRUE(training->done());
}

TEST(Trainer, StopsAtTheGivenUpdateAndResumes) {
  const Scene scene("2x8", busy_jobs(80));
  const Checkpoint straight = train(small_setup("group"), scene);
  Training training(small_setup("group"), scene);
  training->run({}, 4);
  EXPECT_EQ(training->update(), 4);
  EXPECT_FALSE(training->done());
  training->run({});
  EXPECT_EQ(training.checkpoint().weights.at("w2").data, straight.weights.at("w2").data);
}

// Trains on a table, whose rewards can be anything. Returns the error, or "trained".
std::string failure_of(const Table& table, const TrainConfig& config) {
  const auto ranks = single_process_communicator();
  Trainer trainer(config, settings_of({"num_steps=8"}), settings_of({"hidden=8"}),
                  [&](const VectorEnvOptions& options) {
                    return std::make_unique<TableWorlds>(table, options);
                  },
                  *ranks, {});
  try {
    trainer.run({});
  } catch (const RunError& e) {
    return e.what();
  }
  return "trained";
}

TrainConfig on_a_table() {
  TrainConfig config = tiny_setup("ppo").loop;
  config.reward_scale = 1;
  return config;
}

TEST(DivergenceMonitor, NonFiniteRewardStopsTrainingWithAReason) {
  const Table sane = {.transitions = {{{Transition::kEnd, -1, 1}, {Transition::kEnd, 0, 1}}}};
  EXPECT_EQ(failure_of(sane, on_a_table()), "trained");
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    const Table table = {.transitions = {{{Transition::kEnd, bad, 1}, {Transition::kEnd, 0, 1}}}};
    const std::string why = failure_of(table, on_a_table());
    EXPECT_THAT(why, HasSubstr("update 1: the loss is not finite"));
  }
}

TEST(DivergenceMonitor, FiguresBeyondTheirLimitsStopTraining) {
  const Table table = {.transitions = {{{Transition::kEnd, -1, 1}, {Transition::kEnd, 0, 1}}}};
  TrainConfig config = on_a_table();
  config.stop_explained_variance = 1;  // out of reach
  EXPECT_THAT(failure_of(table, config),
              HasSubstr("update 3: explained_variance is below stop_explained_variance = 1"));
  config = on_a_table();
  config.stop_kl = 0;
  EXPECT_THAT(failure_of(table, config), HasSubstr("update 3: approx_kl is above stop_kl = 0"));
}

// Changed weights no longer give the recorded outputs.
TEST(TorchDifference, DetectsChangedWeights) {
  Checkpoint c = small_checkpoint();
  EXPECT_LT(torch_difference_from_golden(c), 1e-4);
  c.weights["b3"].data[0] += 0.5F;
  EXPECT_GT(torch_difference_from_golden(c), 1e-2);
}

}  // namespace
}  // namespace yard::testing
