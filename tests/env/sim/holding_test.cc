// GPUs from which a preempted job still saves. Jobs which fit next to it start at once, others
// wait. A plan's meaning does not depend on the order in which it was drafted.
#include "env/sim/rules/holding.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "env/sim/rules/digest.h"
#include "env/sim/rules/rules.h"
#include "env/sim/view/plan.h"
#include "tests/support/random_world.h"
#include "tests/support/scene.h"

namespace yard::testing {
namespace {

TEST(SoonestBits, AreTheEarliestFreedThenTheLowest) {
  const Scene scene("1x2+1x8", {});
  World world(scene.fixed(), 1);
  SimState& s = world.state();
  Rng rng(7);
  for (int round = 0; round < 5000; ++round) {
    s.head->now_us = rng.below(6);
    s.head->ready_horizon_us = 0;
    int64_t* ready_us = s.gpu_ready_us + 2;
    for (int g = 0; g < 8; ++g) {
      ready_us[g] = rng.below(8);
      s.head->ready_horizon_us = std::max(s.head->ready_horizon_us, ready_us[g]);
    }
    const uint64_t mask = rng.below(256);
    std::vector<int> gpus;
    for (int g = 0; g < 8; ++g) {
      if ((mask >> g & 1) != 0) gpus.push_back(g);
    }
    std::stable_sort(gpus.begin(), gpus.end(), [&](int a, int b) {
      return std::max(ready_us[a], s.head->now_us) < std::max(ready_us[b], s.head->now_us);
    });
    uint64_t soonest = 0;
    for (size_t i = 0; i <= gpus.size(); ++i) {
      ASSERT_EQ(soonest_ready_gpus(scene.fixed(), s, 1, mask, static_cast<int32_t>(i)), soonest);
      if (i < gpus.size()) soonest |= uint64_t{1} << gpus[i];
    }
  }
}

struct TaskRequest {
  int32_t gpu_milli = 0;
  double gpu_mem_gib = 0;
  int32_t cpu_milli = 0;
  int64_t mem_mib = 0;
};

// One node of two GPUs of 16 GiB, 8 cores and 32 GiB. A save takes 10 s, a restore 30 s. A job with
// 0 milli requests a whole GPU.
class Vacating : public ::testing::Test {
 protected:
  // All jobs are submitted at 0 s.
  void make(const std::vector<TaskRequest>& task_requests,
            const GpuSharingConflicts& pair_conflicts = {}) {
    ClusterSpec spec = load_cluster("1x2");
    spec.types[0].shares = Shares::kMilli;
    spec.types[0].mem_gib = 16;
    spec.nodes[0].cpus = 8;
    spec.nodes[0].mem_gib = 32;
    std::vector<Job> jobs = jobs_of(std::vector<JobLine>(task_requests.size(), {0, 1, 1000}));
    for (size_t j = 0; j < jobs.size(); ++j) {
      const TaskRequest& w = task_requests[j];
      jobs[j].groups = {group_of(1, w.gpu_milli == 0, w.gpu_milli, w.cpu_milli, w.mem_mib)};
      jobs[j].groups[0].task.gpu_mem_gib = w.gpu_mem_gib;
    }
    jobs.push_back(jobs.back());  // an event at 5 s
    jobs.back().id = "later";
    jobs.back().submit_us = 5 * kSecond;
    scene_ = std::make_unique<Scene>(spec, jobs, PreemptionCosts{}, pair_conflicts);
    world_ = std::make_unique<World>(scene_->fixed(), scene_->size());
    world_->reset(0, scene_->size());
    ASSERT_TRUE(world_->advance(scene_->truth()));
  }

  SimState& s() { return world_->state(); }
  const SimModel& fixed() const { return scene_->fixed(); }

  void start_on(int32_t slot, uint64_t gpu) {
    const Piece piece = piece_on(slot, gpu);
    ASSERT_TRUE(legal_start(fixed(), s(), slot, &piece, 1));
    start(fixed(), s(), slot, &piece, 1);
  }

  Piece piece_on(int32_t slot, uint64_t gpu) {
    const bool whole = need_of(fixed().jobs.shapes, s().shape[slot], 0).gpus > 0;
    return {0, whole, 0, 1, gpu};
  }

  // Returns the time at which the slot begins to run.
  double begins_s(int32_t slot) {
    return 1e-6 * static_cast<double>(s().phase[slot] == Phase::kStarting ? s().until_us[slot]
                                                                          : s().since_us[slot]);
  }

  std::unique_ptr<Scene> scene_;
  std::unique_ptr<World> world_;
};

TEST_F(Vacating, ShareThatFitsStartsDuringASave) {
  make({{500}, {300}, {400}, {0}});
  start_on(0, 1);
  ASSERT_TRUE(world_->advance(scene_->truth()));
  preempt(fixed(), s(), 0);
  start_on(1, 1);
  EXPECT_EQ(s().phase[1], Phase::kRunning) << "300 next to 500";
  start_on(2, 1);
  EXPECT_EQ(begins_s(2), 15) << "400 next to 300, after 500 have left";
  start_on(3, 2);
  EXPECT_EQ(s().phase[3], Phase::kRunning) << "on a GPU without a saving job";
}

TEST_F(Vacating, WholeGpuWaitsForTheLastShare) {
  make({{100}, {0}});
  start_on(0, 1);
  ASSERT_TRUE(world_->advance(scene_->truth()));
  preempt(fixed(), s(), 0);
  start_on(1, 1);
  EXPECT_EQ(begins_s(1), 15);
}

TEST_F(Vacating, GpuMemoryIsNotAllocatedTwice) {
  make({{100, 10}, {100, 6}, {100, 4}});
  start_on(0, 1);
  ASSERT_TRUE(world_->advance(scene_->truth()));
  preempt(fixed(), s(), 0);
  start_on(1, 1);
  EXPECT_EQ(s().phase[1], Phase::kRunning) << "6 GiB next to 10";
  start_on(2, 1);
  EXPECT_EQ(begins_s(2), 15) << "nothing is left next to those";
}

TEST_F(Vacating, HostCoresAndMemoryAreNotAllocatedTwice) {
  for (const auto& [saver, small, large] :
       {std::array<TaskRequest, 3>{
            TaskRequest{500, 0, 6000, 0}, {100, 0, 2000, 0}, {100, 0, 1000, 0}},
        std::array<TaskRequest, 3>{
            TaskRequest{500, 0, 0, 20480}, {100, 0, 0, 12288}, {100, 0, 0, 1}}}) {
    make({saver, small, large});
    start_on(0, 1);
    ASSERT_TRUE(world_->advance(scene_->truth()));
    preempt(fixed(), s(), 0);
    start_on(1, 2);
    EXPECT_EQ(s().phase[1], Phase::kRunning);
    start_on(2, 2);
    EXPECT_EQ(begins_s(2), 15) << "though its GPU is free";
  }
}

TEST_F(Vacating, ConflictingJobWaitsForTheSave) {
  make({{100}, {100}, {100}}, {{0, kNone, 0, kNone}, {0b1}, 1});  // kind 0 conflicts with itself
  start_on(0, 1);
  start_on(1, 1);
  const Piece conflicting = piece_on(2, 1);
  EXPECT_FALSE(legal_start(fixed(), s(), 2, &conflicting, 1));
  ASSERT_TRUE(world_->advance(scene_->truth()));
  preempt(fixed(), s(), 0);
  const uint64_t before = digest(fixed(), s());
  Draft draft(fixed(), s());
  ASSERT_TRUE(draft.preempt(1));
  draft.undo_to(0);
  EXPECT_EQ(digest(fixed(), s()), before);
  start_on(2, 1);
  EXPECT_EQ(begins_s(2), 15);
}

TEST_F(Vacating, ConflictEndsWhenTheJobHasLeft) {
  make({{100}, {100}, {100}}, {{0, kNone, 0, kNone}, {0b1}, 1});
  start_on(0, 1);
  preempt(fixed(), s(), 0);
  ASSERT_TRUE(world_->advance(scene_->truth()));
  while (s().head->now_us < 10 * kSecond) ASSERT_TRUE(world_->advance(scene_->truth()));
  start_on(1, 1);
  preempt(fixed(), s(), 1);
  ASSERT_EQ(s().gpu_ready_us[0], 20 * kSecond);
  start_on(2, 1);
  EXPECT_EQ(s().phase[2], Phase::kRunning) << "the job that saves now has no kind";
}

TEST_F(Vacating, EverySavingJobCanConflict) {
  make({{100}, {100}, {100}, {100}}, {{0, 1, 2, 1, kNone}, {0b100, 0, 0b1}, 3});
  start_on(0, 1);
  start_on(1, 1);
  ASSERT_TRUE(world_->advance(scene_->truth()));
  preempt(fixed(), s(), 0);
  preempt(fixed(), s(), 1);
  start_on(2, 1);
  EXPECT_EQ(begins_s(2), 15);
  start_on(3, 1);
  EXPECT_EQ(s().phase[3], Phase::kRunning) << "its kind conflicts with none";
}

TEST_F(Vacating, SavingWholeGpuJobLeavesNoShare) {
  make({{500, 4}, {0}, {1}}, {{0, kNone, 0, kNone}, {0b1}, 1});
  start_on(0, 1);
  preempt(fixed(), s(), 0);
  ASSERT_TRUE(world_->advance(scene_->truth()));
  while (s().head->now_us < 10 * kSecond) ASSERT_TRUE(world_->advance(scene_->truth()));
  ASSERT_EQ(s().gpu_ready_us[0], 10 * kSecond);
  start_on(1, 1);
  preempt(fixed(), s(), 1);
  EXPECT_EQ(s().leaving_milli[0], kWholeGpu);
  EXPECT_EQ(s().leaving_mem_mib[0], 0) << "what a share freed before does not matter";
  EXPECT_EQ(s().leaving_kinds[0], 0u);
  start_on(2, 1);
  EXPECT_EQ(begins_s(2), 20);
}

TEST_F(Vacating, ReservedSharesAreTaken) {
  make({{500}, {500}, {500}, {500}});
  start_on(0, 1);
  start_on(1, 1);
  ASSERT_TRUE(world_->advance(scene_->truth()));
  preempt(fixed(), s(), 0);
  start_on(2, 1);
  EXPECT_EQ(begins_s(2), 15);
  preempt(fixed(), s(), 2);  // it leaves at once and frees what it waited for
  EXPECT_EQ(s().phase[2], Phase::kWaiting);
  start_on(3, 1);
  EXPECT_EQ(begins_s(3), 15);
  EXPECT_EQ(broken_invariant(fixed(), s()), "");
}

// The starts of a plan follow its stops, whatever the order in which they were drafted.
TEST_F(Vacating, PlansDoNotDependOnDraftOrder) {
  const auto drafted = [&](const std::vector<int32_t>& order) {  // -1 - slot: stop it
    make({{500}, {200}, {300}, {500}, {200}});
    start_on(0, 1);
    start_on(1, 1);
    ASSERT_TRUE(world_->advance(scene_->truth()));
    World before(fixed(), scene_->size());
    before.copy_from(*world_);
    Draft draft(fixed(), s());
    for (const int32_t what : order) {
      const Piece piece = what >= 0 ? piece_on(what, 1) : Piece{};
      ASSERT_TRUE(what < 0 ? draft.preempt(-1 - what) : draft.start(what, &piece, 1));
    }
    ASSERT_EQ(flaw_of_decision(fixed(), before.state(), draft.plan()), "");
    execute(fixed(), before.state(), draft.plan());
    EXPECT_EQ(digest(fixed(), before.state()), digest(fixed(), s()));
  };
  drafted({2, -1});
  drafted({-1, 2, 4});
  drafted({-1, 3, -2, 2});
  drafted({-1, -2, 3, 2, 4});
}

TEST_F(Vacating, UndoLeavesNoTrace) {
  make({{500, 4, 1000, 1024}, {500, 4, 1000, 1024}, {500, 4, 2000, 2048}, {0, 0, 1000, 512}});
  start_on(0, 1);
  start_on(1, 1);
  ASSERT_TRUE(world_->advance(scene_->truth()));
  preempt(fixed(), s(), 0);
  start_on(2, 1);
  start_on(3, 2);
  ASSERT_EQ(s().phase[2], Phase::kStarting);
  ASSERT_EQ(s().phase[3], Phase::kRunning);
  const uint64_t before = digest(fixed(), s());
  Draft draft(fixed(), s());
  ASSERT_TRUE(draft.preempt(2));
  ASSERT_TRUE(draft.preempt(1));
  ASSERT_TRUE(draft.preempt(3));
  EXPECT_NE(digest(fixed(), s()), before);
  draft.undo_to(0);
  EXPECT_EQ(digest(fixed(), s()), before);
  EXPECT_EQ(broken_invariant(fixed(), s()), "");
}

}  // namespace
}  // namespace yard::testing
