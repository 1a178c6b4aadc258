// Checks meta-learning with Reptile: a single task equals a plain training, a saved state is
// complete, and the meta-trained weights learn an unseen task from a few episodes.
#include "agents/train/reptile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "agents/train/trainer.h"
#include "env/base/core/error.h"
#include "env/base/files/file.h"
#include "tests/agents/problems.h"
#include "tests/support/checkpoints.h"

namespace yard::testing {
namespace {

using ::testing::HasSubstr;

// One of twelve arms pays, in state 1. State 0 leads there whatever the action.
Table bandit(size_t best) {
  Table out;
  out.transitions.resize(2);
  for (size_t a = 0; a < 12; ++a) {
    out.transitions[0].push_back({1, 0, 1});
    out.transitions[1].push_back({Transition::kEnd, a == best ? 1.0 : 0.0, 1});
  }
  return out;
}

TrainConfig few_shot_config(const std::string& learner) {
  TrainConfig c;
  c.learner = learner;
  c.num_envs = 16;
  c.group = 16;
  c.threads = 1;
  c.updates = 4;
  c.validate_every = 4;
  c.average = 0.5;
  c.reward_scale = 1;
  c.optimizer_config.learning_rate = 0.02;
  c.optimizer_config.minibatch_size = 64;
  c.optimizer_config.target_kl = 0.2;
  return c;
}

Settings reptile_settings(const std::string& learner) {
  if (learner == "group") return settings_of({"ent_coef=0"});
  if (learner == "ppo") return settings_of({"num_steps=8"});
  return settings_of({"num_steps=8", "batch_size=256", "buffer_size=300"});
}

class MetaTraining {
 public:
  MetaTraining(const TrainConfig& config, std::vector<Table> env_specs)
      : trainer_(config, reptile_settings(config.learner), settings_of({"hidden=8"}),
                 [env_specs = std::move(env_specs)](const VectorEnvOptions& options) {
                   return std::make_unique<TableWorlds>(env_specs, options);
                 },
                 *ranks_, {}) {}
  Trainer* operator->() { return &trainer_; }

 private:
  std::unique_ptr<Communicator> ranks_ = single_process_communicator();
  Trainer trainer_;
};

class Reptiles : public ::testing::TestWithParam<const char*> {};

TEST_P(Reptiles, FullMetaStepOnOneTaskEqualsPlainTraining) {
  TrainConfig config = few_shot_config(GetParam());
  MetaTraining plain(config, {bandit(3)});
  plain->run({});
  config.meta_updates = 4;
  config.meta_step = 1;
  MetaTraining meta(config, {bandit(3)});
  meta->run({});
  const TrainingResult a = plain->trained(), b = meta->trained();
  for (const auto& [name, tensor] : a.weights) {
    EXPECT_EQ(b.weights.at(name).data, tensor.data) << name;
  }
  EXPECT_EQ(a.provenance, b.provenance);
}

// Resumes after any update, within a task and between two.
TEST_P(Reptiles, ResumeIdentically) {
  TrainConfig config = few_shot_config(GetParam());
  config.updates = 6;
  config.validate_every = 2;
  config.meta_updates = 2;
  const std::vector<Table> env_specs = {bandit(2), bandit(7)};
  const Scratch scratch;
  MetaTraining whole(config, env_specs);
  whole->run({});
  whole->save(scratch.path() / "whole");
  for (int until = 1; until < config.updates; ++until) {
    MetaTraining first(config, env_specs), second(config, env_specs);
    first->run({}, until);
    first->save(scratch.path() / "first");
    second->restore(scratch.path() / "first");
    second->run({});
    second->save(scratch.path() / "second");
    for (const char* file :
         {"network.pt", "mean_network.pt", "meta_network.pt", "adam.pt", "counters.json"}) {
      EXPECT_TRUE(read_file(scratch.path() / "second" / file) ==
                  read_file(scratch.path() / "whole" / file))
          << file << ", resumed after " << until;
    }
  }
  config.meta_updates = 3;
  config.validate_every = 3;
  EXPECT_THROW(MetaTraining(config, env_specs)->restore(scratch.path() / "whole"), InputError);
}

INSTANTIATE_TEST_SUITE_P(Learners, Reptiles, ::testing::Values("group", "ppo", "dqn"),
                         [](const auto& info) { return std::string(info.param); });

TEST(Reptile, PlaysEveryTaskBeforeRepeatingAny) {
  TrainConfig config = few_shot_config("group");
  config.meta_updates = 3;
  std::set<std::vector<int>> orders;
  const Reptile reptile(config, nullptr, 7);
  for (int round = 0; round < 5; ++round) {
    std::vector<int> order;
    for (int task = 0; task < 7; ++task) {
      order.push_back(reptile.env_spec_index((round * 7 + task) * 3));
      EXPECT_EQ(reptile.env_spec_index((round * 7 + task) * 3 + 2), order.back())
          << "of the same task";
    }
    orders.insert(order);
    std::ranges::sort(order);
    EXPECT_EQ(order, (std::vector{0, 1, 2, 3, 4, 5, 6}));
  }
  EXPECT_GT(orders.size(), 1u) << "at random";
}

// The probability of `arm` in state 1, where an arm pays.
double probability_of(const TrainingResult& trained, size_t arm) {
  const auto network = make_network(trained.network, settings_of({"hidden=8"}), {12, 24, 2}, 1);
  network->import_policy(trained.weights, "test");
  GoldenState g;
  g.jobs.assign(12 * 24, 0);
  for (size_t r = 0; r < 12; ++r) g.jobs[r * 24 + 12 + r] = 1;
  g.cluster = {0, 1};
  g.mask.assign(13, 1);
  g.mask[12] = 0;
  g.prior.assign(13, 0);
  g.prior[12] = kMaskedLogit;
  g.rows = 12;
  const std::vector<float> logits = logits_of(*network, {12, 24, 2}, g);
  double sum = 0;
  for (const float l : logits) sum += std::exp(l);
  return std::exp(logits[arm]) / sum;
}

// The arm that pays differs between tasks and is never one of the first eight.
TEST(Reptile, AdaptsToAnUnseenTaskInFewEpisodes) {
  TrainConfig config = few_shot_config("group");
  config.updates = 4 * 60;
  config.meta_updates = 4;
  config.average = 0;
  MetaTraining meta(config, {bandit(8), bandit(9), bandit(10)});
  meta->run({});
  const TrainingResult start = meta->trained();
  EXPECT_LT(probability_of(start, 0), 0.05) << "never rewarded";

  config = few_shot_config("group");
  config.average = 0;
  MetaTraining scratch(config, {bandit(9)});
  scratch->run({});
  EXPECT_EQ(scratch->trained().provenance["episodes"], 5 * 16) << "the first, for the normaliser";

  config.start = "meta";
  MetaTraining adapted(config, {bandit(9)});
  adapted->start_from(start.weights, "meta");
  adapted->run({});
  EXPECT_EQ(adapted->trained().provenance["episodes"], 4 * 16);
  EXPECT_GT(probability_of(adapted->trained(), 9), probability_of(scratch->trained(), 9) + 0.2);
}

TEST(Reptile, RequiresWholeTasks) {
  const auto refusal = [](auto&& change) -> std::string {
    TrainConfig config = few_shot_config("group");
    config.meta_updates = 4;
    change(config);
    try {
      MetaTraining(config, {bandit(1)});
    } catch (const InputError& e) {
      return e.what();
    }
    return "taken";
  };
  EXPECT_THAT(refusal([](TrainConfig& c) { c.updates = 6; }),
              HasSubstr("updates: expected a multiple of meta_updates = 4, got 6"));
  EXPECT_THAT(refusal([](TrainConfig& c) { c.validate_every = 2; }), HasSubstr("validate_every"));
}

}  // namespace
}  // namespace yard::testing
