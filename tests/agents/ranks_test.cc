// Checks ranks: what launchers set in the environment, training on two ranks that equals training
// on one, and errors when a rank is gone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <thread>

#include "agents/ranks/connect.h"
#include "agents/train/trainer.h"
#include "env/base/core/error.h"
#include "tests/agents/problems.h"
#include "tests/support/checkpoints.h"

namespace yard::testing {
namespace {

using ::testing::HasSubstr;
using Variables = std::map<std::string, std::string>;

Rank rank_of(const Variables& variables) {
  return rank_from_environment([&](const char* name) -> const char* {
    const auto it = variables.find(name);
    return it == variables.end() ? nullptr : it->second.c_str();
  });
}

TEST(RankOfEnvironment, ReadsLauncherVariables) {
  EXPECT_EQ(rank_of({}).size, 1);
  EXPECT_EQ(rank_of({{"SLURM_JOB_ID", "7"}, {"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}}).size, 1)
      << "a batch script is not a step of srun";

  Rank r = rank_of({{"RANK", "3"},
                    {"WORLD_SIZE", "8"},
                    {"MASTER_ADDR", "10.0.0.1"},
                    {"MASTER_PORT", "1234"},
                    {"TORCHELASTIC_USE_AGENT_STORE", "True"},
                    {"SLURM_STEP_NUM_TASKS", "1"}});
  EXPECT_EQ(r.rank, 3);
  EXPECT_EQ(r.size, 8);
  EXPECT_EQ(r.host, "10.0.0.1");
  EXPECT_EQ(r.port, 1234);
  EXPECT_TRUE(r.store_exists);

  r = rank_of({{"SLURM_PROCID", "1"},
               {"SLURM_STEP_NUM_TASKS", "2"},
               {"SLURM_STEP_NODELIST", "gpu[07-09,12]"},
               {"SLURM_JOB_ID", "123456"}});
  EXPECT_EQ(r.rank, 1);
  EXPECT_EQ(r.host, "gpu07");
  EXPECT_EQ(r.port, 29'500 + 456);
  EXPECT_FALSE(r.store_exists);

  r = rank_of({{"OMPI_COMM_WORLD_RANK", "1"},
               {"OMPI_COMM_WORLD_SIZE", "2"},
               {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}});
  EXPECT_EQ(r.host, "127.0.0.1");
  r = rank_of({{"PMI_RANK", "5"}, {"PMI_SIZE", "6"}, {"MASTER_ADDR", "head"}});
  EXPECT_EQ(r.rank, 5);
  EXPECT_EQ(r.host, "head");

  r = rank_of({{"YARD_RANK_FILE", "/tmp/x"}, {"RANK", "0"}, {"WORLD_SIZE", "2"}});
  EXPECT_EQ(r.file, "/tmp/x");
}

TEST(RankOfEnvironment, NamesMissingOrInvalidVariables) {
  const auto refusal = [](const Variables& variables) -> std::string {
    try {
      rank_of(variables);
    } catch (const InputError& e) {
      return e.what();
    }
    return "taken";
  };
  EXPECT_THAT(refusal({{"RANK", "0"}}), HasSubstr("WORLD_SIZE"));
  EXPECT_THAT(refusal({{"RANK", "0"}, {"WORLD_SIZE", "2"}}), HasSubstr("MASTER_ADDR"));
  EXPECT_THAT(refusal({{"RANK", "2"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "a"}}),
              HasSubstr("RANK: expected a number in [0, 1]"));
  EXPECT_THAT(refusal({{"RANK", "one"}, {"WORLD_SIZE", "2"}}), HasSubstr("'one'"));
  EXPECT_THAT(
      refusal({{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "a"}, {"MASTER_PORT", "70000"}}),
      HasSubstr("MASTER_PORT"));
  EXPECT_THAT(refusal({{"OMPI_COMM_WORLD_RANK", "0"},
                       {"OMPI_COMM_WORLD_SIZE", "4"},
                       {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}}),
              HasSubstr("MASTER_ADDR"));
}

TEST(SlurmHosts, FindsTheFirstHost) {
  EXPECT_EQ(first_slurm_host("login"), "login");
  EXPECT_EQ(first_slurm_host("a,b"), "a");
  EXPECT_EQ(first_slurm_host("n[3],b"), "n3");
  EXPECT_EQ(first_slurm_host("node-a[007-011,20],b"), "node-a007");
  EXPECT_EQ(first_slurm_host("x,n[1-2]"), "x");
  EXPECT_THROW(first_slurm_host("n[12"), InputError);
}

// Runs f(rank) for every rank, each on its own thread.
template <class F>
void on_ranks(int n, F&& f) {
  std::vector<std::thread> threads;
  for (int r = 0; r < n; ++r) threads.emplace_back([&f, r] { f(r); });
  for (std::thread& t : threads) t.join();
}

std::vector<std::unique_ptr<Communicator>> connected(int n, const std::filesystem::path& folder,
                                                     const ConnectOptions& options = {}) {
  std::vector<std::unique_ptr<Communicator>> out(static_cast<size_t>(n));
  on_ranks(n, [&](int r) {
    Rank rank;
    rank.rank = r;
    rank.size = n;
    rank.file = (folder / "ranks").string();
    out[static_cast<size_t>(r)] = connect(rank, options);
  });
  return out;
}

TEST(Gloo, SumsBroadcastsAndGathers) {
  const Scratch scratch;
  const auto ranks = connected(3, scratch.path());
  on_ranks(3, [&](int r) {
    Communicator& me = *ranks[static_cast<size_t>(r)];
    EXPECT_EQ(me.rank(), r);
    EXPECT_EQ(me.size(), 3);
    std::vector<float> few = {1.0F, static_cast<float>(r)};
    me.sum(few);
    EXPECT_EQ(few, (std::vector<float>{3, 3}));
    double fine[1] = {0.1 * r};
    me.sum(fine);
    EXPECT_NEAR(fine[0], 0.3, 1e-15);
    EXPECT_EQ(me.broadcast(r == 0 ? std::string("a\0b", 3) : "else"), std::string("a\0b", 3));
    const auto all = me.gather(std::string(static_cast<size_t>(r), 'x'));
    EXPECT_EQ(all, r == 0 ? (std::vector<std::string>{"", "x", "xx"}) : std::vector<std::string>{});
  });
}

TEST(Gloo, DetectsALostRank) {
  const Scratch scratch;
  auto ranks = connected(2, scratch.path());
  ranks[1].reset();
  float value[1] = {1};
  try {
    ranks[0]->sum(value);
    FAIL() << "summed without the other rank";
  } catch (const RunError& e) {
    EXPECT_THAT(e.what(), HasSubstr("rank 0 of 2: another rank has exited or does not respond"));
  }
}

TEST(Gloo, ReportsAMissingRank) {
  const Scratch scratch;
  Rank rank;
  rank.size = 2;
  rank.file = (scratch.path() / "ranks").string();
  EXPECT_THROW(connect(rank, {.rendezvous_timeout = std::chrono::milliseconds(300)}), RunError);
}

// The next state depends on the sampled action, so that worlds diverge.
Table branching_table() {
  return {.transitions = {{{1, -1, 5}, {2, -2, 3}},
                          {{2, -1, 4}, {0, -3, 1}},
                          {{Transition::kEnd, -1, 2}, {1, 0, 6}}},
          .max_decisions = 12};
}

class Ranks : public ::testing::TestWithParam<const char*> {
 protected:
  static TrainConfig config(int minibatch) {
    TrainConfig c;
    c.learner = GetParam();
    c.num_envs = 16;
    c.group = 4;
    c.threads = 1;
    c.updates = 3;
    c.average = 0;
    c.optimizer_config.learning_rate = 0.02;
    c.optimizer_config.minibatch_size = minibatch;
    c.optimizer_config.target_kl = 1e9;
    return c;
  }

  static std::unique_ptr<Trainer> trainer(const TrainConfig& config, Communicator& ranks) {
    Settings learner;
    if (config.learner == "ppo") learner.set("num_steps", "6", "test");
    return std::make_unique<Trainer>(
        config, learner, settings_of({"hidden=8"}),
        [](const VectorEnvOptions& options) {
          return std::make_unique<TableWorlds>(branching_table(), options);
        },
        ranks, nlohmann::ordered_json());
  }
};

// Each minibatch is the whole rollout, so that the shuffling of samples does not matter. What
// remains is the order of floating-point sums.
TEST_P(Ranks, TwoRanksMatchOneOfTwiceTheSize) {
  const auto one = single_process_communicator();
  const auto whole = trainer(config(1'000'000), *one);
  whole->run({}, 1);
  const Tensors expected = whole->trained().weights;

  const Scratch scratch;
  const auto ranks = connected(2, scratch.path());
  std::vector<std::unique_ptr<Trainer>> halves;  // one by one: LibTorch's seed is global
  for (const auto& r : ranks) halves.push_back(trainer(config(1'000'000), *r));
  on_ranks(2, [&](int r) { halves[static_cast<size_t>(r)]->run({}, 1); });
  double moved = 0;
  for (const auto& [name, tensor] : expected) {
    const Tensors a = halves[0]->trained().weights, b = halves[1]->trained().weights;
    EXPECT_EQ(a.at(name).data, b.at(name).data) << name << ": ranks agree to the bit";
    // b3 raises all rows alike where the no-op is illegal. Its gradient is only rounding error,
    // from which Adam makes steps.
    if (name == "b3") continue;
    for (size_t i = 0; i < tensor.data.size(); ++i) {
      EXPECT_NEAR(a.at(name).data[i], tensor.data[i], 1e-6) << name;
      if (name == "w3") moved += std::abs(tensor.data[i]);
    }
  }
  EXPECT_GT(moved, 1e-3) << "an update that changes nothing proves nothing";
  EXPECT_EQ(halves[0]->trained().provenance["samples"], whole->trained().provenance["samples"]);
}

TEST_P(Ranks, ResumeIdentically) {
  const Scratch scratch;
  const auto ranks = connected(2, scratch.path());
  const auto train = [&](const char* name, int until, const std::string& from) {
    std::vector<std::unique_ptr<Trainer>> both;
    for (const auto& r : ranks) both.push_back(trainer(config(16), *r));
    on_ranks(2, [&](int r) {
      Trainer& t = *both[static_cast<size_t>(r)];
      if (!from.empty()) t.restore(scratch.path() / from);
      t.run({}, until);
      t.save(scratch.path() / name);
    });
    return both[1]->trained().weights.at("w2").data;
  };
  const auto straight = train("whole", 3, "");
  train("half", 1, "");
  EXPECT_EQ(train("rest", 3, "half"), straight);
}

INSTANTIATE_TEST_SUITE_P(Gloo, Ranks, ::testing::Values("ppo", "group", "clone"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace yard::testing
