// The lists of a state against plain vectors, and handles of reused slots.
#include "env/sim/state/queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "env/sim/rules/advance.h"
#include "env/sim/rules/digest.h"
#include "tests/support/scene.h"

namespace yard::testing {
namespace {

std::vector<int32_t> queue_of(const SimState& s) {
  std::vector<int32_t> slots;
  for (int32_t slot = s.head->queue_head; slot != kNone; slot = s.queue_next[slot]) {
    slots.push_back(slot);
  }
  return slots;
}

std::vector<int32_t> class_of(const SimState& s, int32_t k) {
  std::vector<int32_t> slots;
  for (int32_t slot = s.class_head[k]; slot != kNone; slot = s.class_next[slot]) {
    slots.push_back(slot);
  }
  return slots;
}

TEST(Queue, MatchesPlainLists) {
  std::vector<JobLine> lines;
  for (int j = 0; j < 60; ++j) lines.push_back({0, j % 3 + 1, 1});
  std::vector<Job> jobs = jobs_of(lines);
  const Scene scene("4x4", jobs);
  World world(scene.fixed(), scene.size());
  world.reset(0, scene.size());
  SimState& s = world.state();
  std::vector<int32_t> queue, out;
  for (int32_t j = 0; j < scene.size(); ++j) queue.push_back(arrive(scene.fixed(), s, j));
  Rng rng(4);
  for (int i = 0; i < 5000; ++i) {
    const bool leave = !queue.empty() && (out.empty() || rng.below(2) == 0);
    auto& from = leave ? queue : out;
    const size_t at = rng.below(static_cast<uint32_t>(from.size()));
    const int32_t slot = from[at];
    from.erase(from.begin() + static_cast<int64_t>(at));
    (leave ? out : queue).push_back(slot);
    if (leave) {
      queue_remove(s, slot);
    } else {
      queue_append(s, slot);
    }
    ASSERT_EQ(queue_of(s), queue);
    ASSERT_EQ(s.head->waiting, static_cast<int32_t>(queue.size()));
    for (int32_t k = 0; k < 3; ++k) {
      std::vector<int32_t> mine;
      for (const int32_t q : queue) {
        if (s.request_class[q] == k) mine.push_back(q);
      }
      ASSERT_EQ(class_of(s, k), mine);
      ASSERT_EQ(s.class_count[k], static_cast<int32_t>(mine.size()));
    }
    for (size_t q = 1; q < queue.size(); ++q) {
      ASSERT_LT(s.queue_rank[queue[q - 1]], s.queue_rank[queue[q]]);
    }
  }
}

TEST(Queue, UndoInReverseRestoresTheOrder) {
  std::vector<JobLine> lines;
  for (int j = 0; j < 20; ++j) lines.push_back({0, j % 3 + 1, 1});
  const Scene scene("4x4", jobs_of(lines));
  World world(scene.fixed(), scene.size());
  world.reset(0, scene.size());
  SimState& s = world.state();
  for (int32_t j = 0; j < scene.size(); ++j) arrive(scene.fixed(), s, j);
  const std::vector<int32_t> before = queue_of(s);
  Rng rng(5);
  for (int i = 0; i < 200; ++i) {
    std::vector<int32_t> order = before;
    for (size_t a = order.size(); a > 1; --a) {
      std::swap(order[a - 1], order[rng.below(static_cast<uint32_t>(a))]);
    }
    order.resize(1 + rng.below(20));
    for (const int32_t slot : order) queue_remove(s, slot);
    std::reverse(order.begin(), order.end());
    for (const int32_t slot : order) queue_link(s, slot);
    ASSERT_EQ(queue_of(s), before);
    for (int32_t k = 0; k < 3; ++k) {
      std::vector<int32_t> mine = class_of(s, k);
      ASSERT_TRUE(std::is_sorted(mine.begin(), mine.end()));
      ASSERT_EQ(s.class_count[k], static_cast<int32_t>(mine.size()));
    }
  }
}

TEST(Queue, StaleHandleOfAReusedSlotIsDetected) {
  const Scene scene("1x4", jobs_of({{0, 4, 10}, {100, 4, 10}}), no_costs());
  const auto fifo = make_policy("fifo");
  SceneRunner runner(scene, *fifo);
  ASSERT_TRUE(runner.step());
  const JobRef first = runner.view().ref(runner.view().holder_slot(0));
  ASSERT_TRUE(runner.step());  // the first job ends, and is readable for the last time
  EXPECT_EQ(runner.state().phase[first.slot], Phase::kDone);
  ASSERT_TRUE(runner.advance());  // the second arrives
  const JobRef second = runner.view().ref(runner.view().queue_head());
  EXPECT_EQ(second.slot, first.slot);
  EXPECT_NE(second.generation, first.generation);
  Plan plan;
  plan.pieces = {{0, 4}};
  plan.edits = {{Verb::kStart, first, 0, 1}};
  EXPECT_EQ(flaw_of_decision(scene.fixed(), runner.state(), plan), "start of slot 0: no such job");
  plan.edits = {{Verb::kStart, second, 0, 1}};
  EXPECT_EQ(flaw_of_decision(scene.fixed(), runner.state(), plan), "");
}

}  // namespace
}  // namespace yard::testing
