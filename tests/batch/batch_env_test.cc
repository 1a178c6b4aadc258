// Worlds in a batch are identical to worlds played singly, for any number of threads. Their summed
// rewards equal the jobs' times.
#include "env/batch/batch_env.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "env/base/core/error.h"
#include "env/trace/core/stages.h"
#include "policies/learned/job_scorer.h"
#include "policies/learned/learned_policy.h"
#include "tests/support/dispatcher.h"
#include "tests/support/worlds.h"

namespace yard::testing {
namespace {

BatchConfig small(int worlds) {
  BatchConfig config;
  config.worlds = worlds;
  config.episode_jobs = 40;
  config.seed = 5;
  config.task = dispatcher::agent({"tick_s=600"});
  return config;
}

Checkpoint dispatcher_of(const std::vector<std::string>& settings) {
  Checkpoint out;
  out.agent = "dispatcher";
  out.network = "job-scorer";
  out.task = agent_settings_json("dispatcher", *dispatcher::agent(settings));
  return out;
}

TEST(BatchEnv, WorldsDoNotDependOnTheBatchSize) {
  const Scene scene("2x8", busy_jobs(300));
  BatchConfig all = small(6), first = small(2);
  BatchEnv many(scene.fixed(), scene.workload(), all);
  BatchEnv few(scene.fixed(), scene.workload(), first);
  many.reset();
  few.reset();
  bool differ = false;
  for (uint64_t t = 0; t < 400; ++t) {
    for (int n = 0; n < 2; ++n) ASSERT_EQ(seen(many, n), seen(few, n)) << "step " << t;
    differ |= seen(many, 0) != seen(many, 1);
    many.step(random_actions(many, t));
    few.step(random_actions(few, t));
  }
  EXPECT_TRUE(differ) << "worlds with separate streams play different jobs";
}

TEST(BatchEnv, OmittingThePriorChangesNothingElse) {
  const Scene scene("2x8", busy_jobs(300));
  BatchConfig without = small(3);
  without.prior = false;
  BatchEnv a(scene.fixed(), scene.workload(), small(3)),
      b(scene.fixed(), scene.workload(), without);
  a.reset();
  b.reset();
  EXPECT_TRUE(b.prior().empty());
  for (uint64_t t = 0; t < 300; ++t) {
    ASSERT_TRUE(std::equal(a.jobs().begin(), a.jobs().end(), b.jobs().begin()));
    ASSERT_TRUE(std::equal(a.mask().begin(), a.mask().end(), b.mask().begin()));
    ASSERT_TRUE(std::equal(a.cluster().begin(), a.cluster().end(), b.cluster().begin()));
    const auto actions = random_actions(a, t);
    a.step(actions);
    b.step(actions);
  }
}

TEST(BatchEnv, ResultsDoNotDependOnThreads) {
  const Scene scene("2x8", busy_jobs(300));
  BatchConfig one = small(7), three = small(7);
  three.threads = 3;
  BatchEnv a(scene.fixed(), scene.workload(), one), b(scene.fixed(), scene.workload(), three);
  a.reset();
  b.reset();
  for (uint64_t t = 0; t < 300; ++t) {
    a.step(random_actions(a, t));
    b.step(random_actions(b, t));
    for (int n = 0; n < 7; ++n) ASSERT_EQ(seen(a, n), seen(b, n)) << "step " << t;
  }
  const auto left = a.take_results(), right = b.take_results();
  ASSERT_EQ(left.size(), right.size());
  ASSERT_FALSE(left.empty());
  for (size_t i = 0; i < left.size(); ++i) EXPECT_EQ(left[i].mean_jct_s, right[i].mean_jct_s);
}

TEST(BatchEnv, SavedBatchResumesIdentically) {
  const Scene scene("2x8", busy_jobs(300));
  BatchEnv a(scene.fixed(), scene.workload(), small(3));
  BatchEnv b(scene.fixed(), scene.workload(), small(3));
  a.reset();
  b.reset();
  for (uint64_t t = 0; t < 137; ++t) a.step(random_actions(a, t));
  b.restore(a.save());
  for (uint64_t t = 200; t < 500; ++t) {
    a.step(random_actions(a, t));
    b.step(random_actions(b, t));
    for (int n = 0; n < 3; ++n) ASSERT_EQ(seen(a, n), seen(b, n)) << "step " << t;
  }
  BatchEnv other(scene.fixed(), scene.workload(), small(4));
  other.reset();
  EXPECT_THROW(other.restore(a.save()), InputError);
  std::vector<std::byte> spoilt = a.save();
  for (size_t at = 0; at < spoilt.size(); at += spoilt.size() / 97) {
    spoilt[at] ^= std::byte{4};
    EXPECT_THROW(b.restore(spoilt), InputError);
    spoilt[at] ^= std::byte{4};
  }
  spoilt.pop_back();
  EXPECT_THROW(b.restore(spoilt), InputError);
  const Scene others("2x8", busy_jobs(301));
  BatchEnv elsewhere(others.fixed(), others.workload(), small(3));
  EXPECT_THROW(elsewhere.restore(a.save()), InputError);
  SimModel larger = scene.fixed();
  larger.faults = true;  // same jobs and nodes, larger state
  BatchEnv with_faults(larger, scene.workload(), small(3));
  EXPECT_THROW(with_faults.restore(a.save()), InputError);
}

TEST(BatchEnv, ForkContinuesAsItsOrigin) {
  const Scene scene("2x8", busy_jobs(300));
  BatchConfig config = small(4);
  config.task = dispatcher::agent({"tick_s=600", "preempt=true"});
  BatchEnv env(scene.fixed(), scene.workload(), config);
  env.reset();
  for (uint64_t t = 0; t < 150; ++t) env.step(random_actions(env, t));
  ASSERT_NE(seen(env, 1), seen(env, 3));
  env.fork(1, 3);
  for (uint64_t t = 150; t < 600; ++t) {  // into later episodes
    ASSERT_EQ(seen(env, 1), seen(env, 3)) << "step " << t;
    std::vector<int32_t> actions = random_actions(env, t);
    actions[3] = actions[1];
    env.step(actions);
  }
}

TEST(BatchEnv, EnvironmentsAreSampledByWeight) {
  const Scene one("2x8", busy_jobs(300)), other("1x8+2x4", busy_jobs(200));
  const std::vector<EnvSpec> env_specs = {{one.fixed(), &one.workload(), 1},
                                          {other.fixed(), &other.workload(), 3}};
  BatchConfig config = small(8);
  config.threads = 2;
  BatchEnv env(env_specs, config);
  const auto shares = [&](uint64_t from) {
    std::vector<int> played(2, 0);
    for (uint64_t t = from; t < from + 4000; ++t) {
      env.step(random_actions(env, t));
      for (const EpisodeResult& result : env.take_results()) {
        ++played[static_cast<size_t>(result.env_spec)];
      }
    }
    return played;
  };
  env.reset();
  const std::vector<int> mixed = shares(0);
  EXPECT_GT(mixed[0], 20);
  EXPECT_NEAR(mixed[0] / static_cast<double>(mixed[0] + mixed[1]), 0.25, 0.08);
  env.set_env_spec_weights(std::vector<double>{1, 0});
  shares(4000);  // running episodes end
  EXPECT_EQ(shares(8000)[1], 0);
}

TEST(BatchEnv, SavesTheCurrentEnvironment) {
  const Scene one("2x8", busy_jobs(300)), other("1x8+2x4", busy_jobs(200));
  const std::vector<EnvSpec> env_specs = {{one.fixed(), &one.workload(), 1},
                                          {other.fixed(), &other.workload(), 1}};
  BatchEnv a(env_specs, small(5)), b(env_specs, small(5));
  a.reset();
  a.set_env_spec_weights(std::vector<double>{1, 7});
  for (uint64_t t = 0; t < 333; ++t) a.step(random_actions(a, t));
  a.fork(1, 3);  // later episodes follow world 1
  b.restore(a.save());
  for (uint64_t t = 333; t < 700; ++t) {
    a.step(random_actions(a, t));
    b.step(random_actions(b, t));
    for (int n = 0; n < 5; ++n) ASSERT_EQ(seen(a, n), seen(b, n)) << "step " << t;
  }
}

TEST(BatchEnv, RewardsSumToMinusTheTotalJct) {
  const Scene scene("2x8", busy_jobs(60));
  BatchConfig config = small(4);
  config.episode_jobs = 60;  // the whole workload
  BatchEnv env(scene.fixed(), scene.workload(), config);
  env.reset();
  std::vector<double> paid(4, 0), passed(4, 0);
  std::set<int> ended;
  for (uint64_t t = 0; t < 5000 && ended.size() < 4; ++t) {
    env.step(random_actions(env, t));
    for (int n = 0; n < 4; ++n) {
      if (ended.contains(n)) continue;
      const auto i = static_cast<size_t>(n);
      paid[i] += env.reward()[i];
      passed[i] += env.dt_s()[i];
      if (env.ending()[i] == Ending::kNone) continue;
      ASSERT_EQ(env.ending()[i], Ending::kTerminated);
      ended.insert(n);
      // Time before the first decision is in no reward. The first jobs fit and start at once, so it
      // is time of running jobs.
      for (const EpisodeResult& r : env.take_results()) {
        if (r.world != n) continue;
        EXPECT_LE(-paid[i], r.mean_jct_s * 60 * (1 + 1e-5));
        EXPECT_NEAR(-paid[i], r.mean_jct_s * 60, 1e-4 * r.mean_jct_s * 60);
        EXPECT_EQ(r.first_job, 0);
        EXPECT_EQ(r.number, 0);
      }
    }
  }
  EXPECT_EQ(ended.size(), 4u);
}

TEST(BatchEnv, RowsBeyondTheLastAreZeroAndMasked) {
  const Scene scene("2x8", busy_jobs(300));
  BatchEnv env(scene.fixed(), scene.workload(), small(3));
  env.reset();
  int32_t most = 0, least = dispatcher::kJobs;
  for (uint64_t t = 0; t < 300; ++t) {
    for (int n = 0; n < 3; ++n) {
      const int32_t rows = env.rows()[static_cast<size_t>(n)];
      most = std::max(most, rows);
      least = std::min(least, rows);
      const float* jobs =
          env.jobs().data() + int64_t{n} * dispatcher::kJobs * dispatcher::kJobFeatures;
      for (int32_t k = rows * dispatcher::kJobFeatures;
           k < dispatcher::kJobs * dispatcher::kJobFeatures; ++k) {
        ASSERT_EQ(jobs[k], 0);
      }
      for (int32_t a = rows; a < dispatcher::kJobs; ++a) ASSERT_EQ(mask_of(env, n)[a], 0);
      const uint8_t* mask = mask_of(env, n);
      ASSERT_GT(std::count(mask, mask + dispatcher::kActions, 1), 0) << "something is always legal";
    }
    env.step(random_actions(env, t));  // aborts on an illegal action
  }
  EXPECT_GT(most, least);
}

TEST(BatchEnv, TruncatedEpisodeShowsItsFinalObservation) {
  const Scene scene("2x8", busy_jobs(300));
  BatchConfig config = small(2);
  config.max_decisions = 9;
  BatchConfig free = config;
  free.max_decisions = 0;
  BatchEnv cut(scene.fixed(), scene.workload(), config);
  BatchEnv whole(scene.fixed(), scene.workload(), free);
  cut.reset();
  whole.reset();
  for (uint64_t t = 0; t < 9; ++t) {
    for (int n = 0; n < 2; ++n) ASSERT_EQ(seen(cut, n), seen(whole, n)) << "step " << t;
    cut.step(random_actions(cut, t));
    whole.step(random_actions(whole, t));
  }
  constexpr int64_t kWindow = int64_t{dispatcher::kJobs} * dispatcher::kJobFeatures;
  for (int64_t n = 0; n < 2; ++n) {
    const auto i = static_cast<size_t>(n);
    ASSERT_EQ(cut.ending()[i], Ending::kTruncated);
    ASSERT_EQ(whole.ending()[i], Ending::kNone);
    EXPECT_EQ(cut.reward()[i], whole.reward()[i]);
    EXPECT_EQ(cut.final_rows()[i], whole.rows()[i]);
    EXPECT_TRUE(std::equal(cut.final_jobs().begin() + n * kWindow,
                           cut.final_jobs().begin() + (n + 1) * kWindow,
                           whole.jobs().begin() + n * kWindow));
    EXPECT_TRUE(std::equal(cut.final_cluster().begin() + n * dispatcher::kClusterFeatures,
                           cut.final_cluster().begin() + (n + 1) * dispatcher::kClusterFeatures,
                           whole.cluster().begin() + n * dispatcher::kClusterFeatures));
  }
  const auto results = cut.take_results();
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0].decisions, 9);
  EXPECT_TRUE(cut.take_results().empty()) << "results are returned once";
}

TEST(BatchEnv, GroupsPlayTheSameJobs) {
  const Scene scene("2x8", busy_jobs(300));
  BatchConfig config = small(6);
  config.group = 3;
  BatchEnv env(scene.fixed(), scene.workload(), config);
  env.reset();
  EXPECT_EQ(seen(env, 0), seen(env, 2));
  EXPECT_EQ(seen(env, 3), seen(env, 5));
  EXPECT_NE(seen(env, 0), seen(env, 3));
  std::map<std::pair<int, int64_t>, std::set<int32_t>> firsts;  // (group, episode)
  for (uint64_t t = 0; t < 1500; ++t) {
    env.step(random_actions(env, t));
    for (const EpisodeResult& r : env.take_results()) {
      firsts[{r.world / 3, r.number}].insert(r.first_job);
    }
  }
  EXPECT_GE(firsts.size(), 4u);
  for (const auto& [episode, jobs] : firsts) {
    EXPECT_EQ(jobs.size(), 1u) << "group " << episode.first << " episode " << episode.second;
  }
}

TEST(BatchEnv, WorldsWaitAtTheEndUntilAllAreDone) {
  const Scene scene("2x8", busy_jobs(300));
  BatchConfig config = small(4);
  config.group = 4;
  config.wait_at_end = true;
  BatchEnv env(scene.fixed(), scene.workload(), config);
  env.reset();
  const auto all_wait = [&] {
    int waiting = 0;
    for (int n = 0; n < 4; ++n) waiting += env.is_done(n);
    return waiting == 4;
  };
  bool some_waited_alone = false;
  for (uint64_t t = 0; t < 5000 && !all_wait(); ++t) {
    std::vector<bool> waited;
    for (int n = 0; n < 4; ++n) waited.push_back(env.is_done(n));
    env.step(random_actions(env, t));
    for (int n = 0; n < 4; ++n) {
      const auto i = static_cast<size_t>(n);
      if (!waited[i]) continue;
      some_waited_alone = true;
      ASSERT_EQ(env.reward()[i], 0);
      ASSERT_EQ(env.dt_s()[i], 0);
      ASSERT_EQ(env.ending()[i], Ending::kNone);
    }
  }
  ASSERT_TRUE(all_wait());
  EXPECT_TRUE(some_waited_alone);
  EXPECT_EQ(env.take_results().size(), 4u);
  env.begin_next_episodes();
  for (int n = 0; n < 4; ++n) EXPECT_FALSE(env.is_done(n));
  EXPECT_EQ(seen(env, 0).rows, seen(env, 3).rows);
}

// Arbitrary weights must not cause an endless decision.
TEST(BatchEnv, ZeroQuantumTerminates) {
  for (const uint64_t seed : {1, 2, 3, 4, 5, 6}) {
    const Scene scene("2x8", busy_jobs(80, seed));
    Checkpoint wild = dispatcher_of({"quantum_s=0"});
    Rng rng(seed);
    for (const auto& [name, shape] : job_scorer_shapes(4, dispatcher::kShape)) {
      size_t count = 1;
      for (const int64_t n : shape) count *= static_cast<size_t>(n);
      std::vector<float> values;
      for (size_t i = 0; i < count; ++i) values.push_back(static_cast<float>(3 * rng.normal()));
      wild.weights[name] = {shape, values};
    }
    const auto pilot = policy_of(wild, "wild weights");
    SceneRunner runner(scene, *pilot);
    for (int i = 0; i < 2000 && runner.step(); ++i) {
    }
    ASSERT_FALSE(runner.failed());
  }
}

// Weights that always prefer to do nothing must not make jobs wait forever.
TEST(BatchEnv, NoOpWeightsStillFinishEveryJob) {
  const Scene scene("2x8", busy_jobs(60));
  Checkpoint lazy = dispatcher_of({});
  for (const auto& [name, shape] : job_scorer_shapes(4, dispatcher::kShape)) {
    size_t count = 1;
    for (const int64_t n : shape) count *= static_cast<size_t>(n);
    lazy.weights[name] = {shape, std::vector<float>(count, name == "b5" ? 1e6F : 0.0F)};
  }
  const auto pilot = policy_of(lazy, "lazy weights");
  SceneRunner runner(scene, *pilot);
  runner.play();
  ASSERT_FALSE(runner.failed());
  EXPECT_EQ(runner.jobs().size(), 60u);
}

// With zero logits the prior decides, and its best option is that of the index. As a policy under
// the default rule set, it equals a world that takes the expert's actions.
TEST(BatchEnv, ExpertActionsMatchTheZeroWeightPolicy) {
  for (const bool preempt : {false, true}) {
    const Scene scene("2x8", busy_jobs(120));
    BatchConfig config = small(1);
    config.episode_jobs = 120;
    config.wait_at_end = true;
    const std::vector<std::string> settings = {"tick_s=600",
                                               preempt ? "preempt=true" : "preempt=false"};
    config.task = dispatcher::agent(settings);
    BatchEnv env(scene.fixed(), scene.workload(), config);
    env.reset();
    while (!env.is_done(0)) env.step(env.expert_action());
    const auto results = env.take_results();
    ASSERT_EQ(results.size(), 1u);

    Checkpoint nothing = dispatcher_of(settings);
    for (const auto& [name, shape] : job_scorer_shapes(4, dispatcher::kShape)) {
      size_t count = 1;
      for (const int64_t n : shape) count *= static_cast<size_t>(n);
      nothing.weights[name] = {shape, std::vector<float>(count, 0.0F)};
    }
    const auto pilot = policy_of(nothing, "zero weights");
    SceneRunner runner(scene, *pilot);
    runner.play();
    ASSERT_FALSE(runner.failed());
    const double mean = 1e-6 * static_cast<double>(total_jct_us(scene, runner.jobs())) / 120;
    EXPECT_NEAR(results[0].mean_jct_s, mean, 1e-9 * mean) << "preempt " << preempt;
  }
}

// A stage is a job of its own: it is blocked until its predecessors have ended. Episodes end.
TEST(BatchEnv, PlaysJobStages) {
  std::vector<Job> jobs = busy_jobs(60);
  for (size_t j = 0; j < jobs.size(); j += 3) {
    RoleGroup first;
    first.task.gpus = jobs[j].gpus;
    RoleGroup second = first;
    second.role = "evaluator";
    second.after = {0};
    jobs[j].groups = {first, second};
    jobs[j].gpus *= 2;
  }
  const StageJobs stages = split_stages(jobs);
  ASSERT_EQ(stages.jobs.size(), 80u);
  const Scene scene("2x8", stages.jobs);
  BatchEnv env(scene.fixed(), scene.workload(), small(2));
  env.reset();
  for (uint64_t t = 0; t < 2000; ++t) env.step(random_actions(env, t));
  EXPECT_FALSE(env.take_results().empty());
}

}  // namespace
}  // namespace yard::testing
