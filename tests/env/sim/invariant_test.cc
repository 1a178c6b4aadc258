// Damages a state in each possible way: broken_invariant(), which all tests rely on, must see it.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "env/sim/rules/digest.h"
#include "env/sim/rules/rules.h"
#include "tests/support/scene.h"

namespace yard::testing {
namespace {

struct Damage {
  std::string name;
  std::function<void(SimState&)> does;
};

int32_t some_slot(const SimState& s, Phase phase) {
  for (int32_t slot = 0; slot < s.head->high_water; ++slot) {
    if (s.phase[slot] == phase) return slot;
  }
  ADD_FAILURE() << "no job in phase " << static_cast<int>(phase);
  return 0;
}

class BrokenInvariant : public ::testing::TestWithParam<Damage> {};

TEST_P(BrokenInvariant, IsDetected) {
  const Scene scene("2x4",
                    jobs_of({{0, 2, 100}, {0, 4, 100}, {0, 1, 100}, {0, 4, 10}, {0, 4, 10}}));
  const auto policy = make_policy("greedy");
  SceneRunner runner(scene, *policy);
  ASSERT_TRUE(runner.step());
  ASSERT_EQ(runner.view().num_waiting(), 2);
  ASSERT_EQ(runner.view().num_holders(), 3);
  ASSERT_EQ(runner.view().free_gpus(), 1);
  ASSERT_EQ(broken_invariant(scene.fixed(), runner.state()), "");
  GetParam().does(runner.world().state());
  EXPECT_NE(broken_invariant(scene.fixed(), runner.state()), "");
}

INSTANTIATE_TEST_SUITE_P(
    Damage, BrokenInvariant,
    ::testing::ValuesIn(std::vector<Damage>{
        {"AGpuHeldTwice",
         [](SimState& s) {
           const int32_t a = s.first_part[s.holder_slots[0]], b = s.first_part[s.holder_slots[2]];
           s.part_node[a] = s.part_node[b];
           s.part_mask[a] |= s.part_mask[b];
         }},
        {"AGpuLost", [](SimState& s) { s.part_mask[s.first_part[s.holder_slots[0]]] <<= 2; }},
        {"ATaskOfAPlainJob",
         [](SimState& s) { s.part_tasks[s.first_part[s.holder_slots[0]]] = 1; }},
        {"AGroupOfAPlainJob",
         [](SimState& s) { s.part_role_group[s.first_part[s.holder_slots[0]]] = 1; }},
        {"AGpuTooFew", [](SimState& s) { ++s.gpus[s.holder_slots[0]]; }},
        {"AFreeGpuTooMany", [](SimState& s) { s.free_mask[0] |= 1; }},
        {"AFreeCount", [](SimState& s) { ++s.free_count[0]; }},
        {"ASumOfFreeGpus", [](SimState& s) { --s.head->free_gpus; }},
        {"ABitmap", [](SimState& s) { s.free_bits[s.free_count[0]] &= ~uint64_t{1}; }},
        {"AQueueWithoutItsHead",
         [](SimState& s) { s.head->queue_head = s.queue_next[s.head->queue_head]; }},
        {"AQueueWithALoop",
         [](SimState& s) { s.queue_next[s.head->queue_tail] = s.head->queue_head; }},
        {"AQueueOutOfOrder", [](SimState& s) { s.queue_rank[s.head->queue_head] = 1000; }},
        {"AQueuedJobThatRuns", [](SimState& s) { s.phase[s.head->queue_head] = Phase::kRunning; }},
        {"AListOfHolders", [](SimState& s) { std::swap(s.holder_slots[0], s.holder_slots[1]); }},
        {"ACountOfHolders", [](SimState& s) { --s.head->held; }},
        {"ACountOfJobs", [](SimState& s) { ++s.head->live; }},
        {"AJobForgotten", [](SimState& s) { ++s.head->arrived; }},
        {"NegativeWork", [](SimState& s) { s.work_done_us[some_slot(s, Phase::kRunning)] = -1; }},
        {"AClassListWithoutItsHead",
         [](SimState& s) {
           const int32_t k = s.request_class[s.head->queue_head];
           s.class_head[k] = s.class_next[s.class_head[k]];
         }},
        {"ACountOfAClass", [](SimState& s) { ++s.class_count[0]; }},
    }),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace yard::testing
