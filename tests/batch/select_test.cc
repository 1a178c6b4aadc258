// The task `select`: its first action is the choice of greedy, its window is the head of the queue,
// and bound buffers hold the batch's tensors.
#include "env/task/select.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "env/batch/batch_env.h"
#include "policies/policy.h"
#include "tests/support/worlds.h"

namespace yard::testing {
namespace {

BasicBatchConfig<JobSelectionTask> one_world(int jobs) {
  BasicBatchConfig<JobSelectionTask> config;
  config.worlds = 1;
  config.episode_jobs = jobs;
  config.prior = false;
  config.wait_at_end = true;
  return config;
}

TEST(JobSelectionTask, FirstChoiceMatchesGreedy) {
  const Scene scene("2x8", busy_jobs(400));
  SelectEnv env(scene.fixed(), scene.workload(), one_world(400));
  env.reset();
  while (!env.is_done(0)) {
    ASSERT_LT(env.rows()[0], JobSelectionTask::kJobs) << "a job outside the window might fit";
    env.step(env.expert_action());
  }
  const auto policy = PolicyRegistry::make("greedy", {});
  SceneRunner runner(scene, *policy);
  runner.play();
  double sum_s = 0;
  for (int32_t j = 0; j < scene.size(); ++j) {
    const auto i = static_cast<size_t>(j);
    sum_s += 1e-6 * static_cast<double>(runner.jobs()[i].end_us - scene.jobs()[i].submit_us);
  }
  const std::vector<EpisodeResult> results = env.take_results();
  ASSERT_EQ(results.size(), 1u);
  EXPECT_NEAR(results[0].mean_jct_s, sum_s / scene.size(), 1e-6);
}

// More jobs wait than the window shows.
std::vector<Job> crowd() {
  std::vector<Job> jobs = busy_jobs(400);
  for (Job& job : jobs) job.submit_us /= 40;
  return jobs;
}

// Plays random actions. After each, compares the window with one rebuilt from the queue.
TEST(JobSelectionTask, WindowIsTheHeadOfTheQueue) {
  const Scene scene("2x8", crowd());
  World world(scene.fixed(), scene.size());
  world.reset(0, scene.size());
  const View view(scene.fixed(), world.state(), JobSelectionTask::kLevel);
  std::vector<uint64_t> kept(JobSelectionTask::memory_bytes(view) / 8 + 1);
  auto* memory = reinterpret_cast<std::byte*>(kept.data());
  struct Sight {
    float jobs[JobSelectionTask::kJobs * JobSelectionTask::kJobFeatures],
        cluster[JobSelectionTask::kClusterFeatures];
    uint8_t mask[JobSelectionTask::kActions];
    int32_t slots[JobSelectionTask::kJobs];
    Observation o{jobs, cluster, mask, nullptr, slots, 0, 0, 0, 0};
  } kept_sight, new_sight;
  struct Editor {
    World& world;
    void start(int32_t slot, const Piece* pieces, int32_t n) {
      yard::start(world.fixed(), world.state(), slot, pieces, n);
    }
  };
  const JobSelectionConfig config;
  std::vector<Piece> scratch(8);
  Rng rng(3);
  int64_t begin_us = -1;
  int decisions = 0;
  bool full = false;
  while (!all_done(world.state())) {
    ASSERT_TRUE(world.advance(scene.truth()));
    if (begin_us < 0) begin_us = view.now_us();
    bool goes_on = JobSelectionTask::on_events(view, config, memory);
    while (goes_on) {
      JobSelectionTask::observe(view, config, memory, kept_sight.o);
      std::vector<uint64_t> fresh(kept.size());
      auto* anew = reinterpret_cast<std::byte*>(fresh.data());
      auto* window = reinterpret_cast<JobSelectionTask::Window*>(anew);
      window->begun = 1;
      window->begin_us = begin_us;
      JobSelectionTask::on_events(view, config, anew);
      JobSelectionTask::observe(view, config, anew, new_sight.o);
      ASSERT_EQ(kept_sight.o.rows, new_sight.o.rows);
      ASSERT_EQ(kept_sight.o.rows, std::min(view.num_waiting(), JobSelectionTask::kJobs));
      ASSERT_TRUE(std::equal(std::begin(kept_sight.jobs), std::end(kept_sight.jobs),
                             std::begin(new_sight.jobs)));
      ASSERT_TRUE(std::equal(std::begin(kept_sight.mask), std::end(kept_sight.mask),
                             std::begin(new_sight.mask)));
      int32_t slot = view.queue_head();
      for (int32_t r = 0; r < kept_sight.o.rows; ++r, slot = view.queue_next(slot)) {
        ASSERT_EQ(kept_sight.slots[r], slot);
        ASSERT_EQ(kept_sight.mask[r] != 0, JobSelectionTask::legal(view, config, slot));
        ASSERT_FLOAT_EQ(
            kept_sight.jobs[r * JobSelectionTask::kJobFeatures + JobSelectionTask::kGpus],
            static_cast<float>(view.gpus(slot)) / 16);
      }
      ++decisions;
      full |= view.num_waiting() > JobSelectionTask::kJobs;
      const auto a = static_cast<int32_t>(rng.below(JobSelectionTask::kJobs));
      if (kept_sight.o.choices == 0) break;
      const int32_t pick = kept_sight.mask[a] ? a : kept_sight.o.expert_action;
      JobSelectionTask::apply(view, config, memory, kept_sight.slots[pick], scratch.data(),
                              Editor{world});
      goes_on = !JobSelectionTask::idle(view, config);
    }
  }
  EXPECT_GE(decisions, 400);
  EXPECT_TRUE(full) << "the window never overflowed";
}

TEST(JobSelectionTask, LearnerTensorsMatchBatchTensors) {
  const Scene scene("2x8", busy_jobs(300));
  BasicBatchConfig<JobSelectionTask> config = one_world(60);
  config.worlds = 5;
  config.wait_at_end = false;
  BasicBatchConfig<JobSelectionTask> threads = config;
  threads.threads = 2;
  SelectEnv plain(scene.fixed(), scene.workload(), config);
  SelectEnv aimed(scene.fixed(), scene.workload(), threads);
  plain.reset();
  aimed.reset();
  constexpr int kSteps = 4;
  std::vector<float> jobs(kSteps * plain.jobs().size(), -1), cluster(kSteps * 5 * 4, -1);
  std::vector<uint8_t> mask(kSteps * plain.mask().size(), 7);
  for (int t = 0; t < 400; ++t) {
    const std::vector<int32_t> actions(plain.expert_action().begin(), plain.expert_action().end());
    const auto at = static_cast<size_t>(t % kSteps);
    aimed.bind_buffers(jobs.data() + at * plain.jobs().size(), cluster.data() + at * 20,
                       mask.data() + at * plain.mask().size());
    plain.step(actions);
    aimed.step(actions);
    ASSERT_EQ(aimed.jobs().data(), jobs.data() + at * plain.jobs().size());
    ASSERT_TRUE(std::equal(plain.jobs().begin(), plain.jobs().end(), aimed.jobs().begin()));
    ASSERT_TRUE(std::equal(plain.mask().begin(), plain.mask().end(), aimed.mask().begin()));
    ASSERT_TRUE(
        std::equal(plain.cluster().begin(), plain.cluster().end(), aimed.cluster().begin()));
  }
}

}  // namespace
}  // namespace yard::testing
