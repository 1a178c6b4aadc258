// The loop as a whole: from a start that is wrong to an optimum that is known, and resumed as if it
// had never stopped.
#include "agents/trainer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "env/base/error.h"
#include "policies/learned/pilot.h"
#include "tests/support/checkpoints.h"
#include "tests/support/worlds.h"

namespace yard::testing {
namespace {

Checkpoint train(const TrainConfig& config, const Scene& scene) {
  Trainer trainer(config, scene.fixed(), scene.workload(), {{"made_by", "test"}});
  Checkpoint last;
  TrainEvents events;
  events.keep = [&](const Checkpoint& c, int, double, bool) { last = c; };
  trainer.run(events);
  return last;
}

int64_t total_us(const Checkpoint& checkpoint, const Scene& scene) {
  const auto pilot = make_pilot(checkpoint, "test");
  Player player(scene, *pilot);
  player.play();
  EXPECT_FALSE(player.failed());
  return total_jct_us(scene, player.jobs());
}

// No two of the jobs fit side by side, so the total of an order is the sum of its ends.
int64_t best_total_us(const std::vector<Job>& jobs) {
  std::vector<size_t> order(jobs.size());
  std::iota(order.begin(), order.end(), 0);
  int64_t best = INT64_MAX;
  do {
    int64_t clock_us = 0, total_us = 0;
    for (const size_t j : order) {
      clock_us += jobs[j].run_us;
      total_us += clock_us;
    }
    best = std::min(best, total_us);
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

TrainConfig tiny(const std::string& baseline) {
  TrainConfig c;
  c.hidden = 16;
  c.worlds = 16;
  c.threads = 1;
  c.group = 8;
  c.updates = 12;
  c.average = 0;
  c.ppo.baseline = baseline;
  c.ppo.lr = 0.02;
  c.ppo.steps = 32;
  c.ppo.minibatch = 64;
  c.ppo.target_kl = 0.2;
  return c;
}

// Wide jobs are short here; the index it starts from holds that they cost more and lets them wait.
class TinyCluster : public ::testing::TestWithParam<std::string> {};

TEST_P(TinyCluster, TheOptimumIsReachedFromAWrongStart) {
  const std::vector<Job> jobs = jobs_of({{0, 5, 2000},
                                         {0, 8, 100},
                                         {0, 5, 2000},
                                         {0, 8, 100},
                                         {0, 5, 2000},
                                         {0, 8, 100},
                                         {0, 8, 100}});
  const Scene scene("1x8", jobs, no_costs());
  TrainConfig config = tiny(GetParam());
  config.episode_jobs = 7;
  config.preempt = false;
  const int64_t best_us = best_total_us(jobs);

  TrainConfig still = config;
  still.ppo.lr = 0;
  still.updates = 1;
  EXPECT_GT(total_us(train(still, scene), scene), best_us * 3 / 2);
  EXPECT_EQ(total_us(train(config, scene), scene), best_us);
}

INSTANTIATE_TEST_SUITE_P(Trainer, TinyCluster, ::testing::Values("group", "critic"),
                         [](const auto& info) { return info.param; });

class Resume : public ::testing::TestWithParam<std::string> {};

TEST_P(Resume, GoesOnAsIfItHadNeverStopped) {
  const Scene scene("2x8", busy_jobs(80));
  TrainConfig config = tiny(GetParam());
  config.updates = 4;
  config.validate_every = 2;
  config.worlds = 4;
  config.group = 2;
  config.episode_jobs = 30;
  config.average = 0.5;
  const Checkpoint straight = train(config, scene);

  const Scratch scratch;
  struct Stop {};
  {
    Trainer first(config, scene.fixed(), scene.workload(), {});
    TrainEvents events;
    events.validated = [&] {
      first.save(scratch.path() / "state");
      throw Stop{};
    };
    EXPECT_THROW(first.run(events), Stop);
    EXPECT_EQ(first.update(), 2);
  }
  Trainer second(config, scene.fixed(), scene.workload(), {{"made_by", "test"}});
  second.restore(scratch.path() / "state");
  EXPECT_EQ(second.update(), 2);
  Checkpoint resumed;
  std::vector<int> updates;
  TrainEvents events;
  events.on_update = [&](const TrainStats& s) { updates.push_back(s.update); };
  events.keep = [&](const Checkpoint& c, int, double, bool) { resumed = c; };
  second.run(events);
  EXPECT_EQ(updates, (std::vector<int>{3, 4}));
  EXPECT_EQ(resumed.provenance, straight.provenance);
  for (const auto& [name, t] : straight.weights) {
    EXPECT_EQ(resumed.weights.at(name).data, t.data) << name;
  }
  for (const auto& [name, t] : straight.golden) {
    EXPECT_EQ(resumed.golden.at(name).data, t.data) << name;
  }
  EXPECT_LT(torch_difference(resumed), 1e-5);
}

INSTANTIATE_TEST_SUITE_P(Trainer, Resume, ::testing::Values("group", "critic"),
                         [](const auto& info) { return info.param; });

TEST(Trainer, RefusesTheStateOfAnotherTraining) {
  const Scene scene("2x8", busy_jobs(80));
  TrainConfig config = tiny("group");
  config.episode_jobs = 30;
  const Scratch scratch;
  Trainer trainer(config, scene.fixed(), scene.workload(), {});
  EXPECT_THROW(trainer.restore(scratch.path() / "nothing"), InputError);
  trainer.save(scratch.path() / "state");
  config.hidden = 8;
  Trainer narrower(config, scene.fixed(), scene.workload(), {});
  EXPECT_THROW(narrower.restore(scratch.path() / "state"), InputError);
  config.hidden = 16;
  config.worlds = 8;
  Trainer fewer(config, scene.fixed(), scene.workload(), {});
  EXPECT_THROW(fewer.restore(scratch.path() / "state"), InputError);
}

TEST(Trainer, ValidatesAndKeepsTheBest) {
  const Scene scene("2x8", busy_jobs(80));
  TrainConfig config = tiny("group");
  config.worlds = 4;
  config.group = 2;
  config.episode_jobs = 30;
  config.updates = 6;
  config.validate_every = 2;
  Trainer trainer(config, scene.fixed(), scene.workload(), {});
  const std::vector<double> scores = {0.9, 0.8, 0.85};
  size_t asked = 0;
  std::vector<std::pair<int, bool>> kept;
  std::vector<double> reported;
  TrainEvents events;
  events.validate = [&](const Checkpoint&, int update) {
    EXPECT_EQ(update, 2 * (static_cast<int>(asked) + 1));
    return scores[asked++];
  };
  events.keep = [&](const Checkpoint&, int update, double score, bool best) {
    kept.emplace_back(update, best);
    if (!best) {
      EXPECT_EQ(score, 0.8);
    }
  };
  events.on_update = [&](const TrainStats& s) { reported.push_back(s.validation); };
  trainer.run(events);
  EXPECT_EQ(kept, (std::vector<std::pair<int, bool>>{{2, true}, {4, true}, {6, false}}));
  EXPECT_EQ(reported, (std::vector<double>{0, 0.9, 0, 0.8, 0, 0.85}));
}

// Two programs must agree on a checkpoint that was not made here.
TEST(TorchDifference, SeesWeightsThatAreNotThoseRecorded) {
  Checkpoint c = small_checkpoint();
  EXPECT_LT(torch_difference(c), 1e-4);
  c.weights["b3"].data[0] += 0.5F;
  EXPECT_GT(torch_difference(c), 1e-2);
}

}  // namespace
}  // namespace yard::testing
