// The pairing heaps of a ranking against ordered sets. Their memory is moved between uses.
#include "policies/ranked_queue.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <set>
#include <utility>
#include <vector>

#include "tests/support/scene.h"

namespace yard::testing {
namespace {

// Class counts that are powers of two or not, so that the tournament has unused leaves.
class Ranking : public ::testing::TestWithParam<int> {};

TEST_P(Ranking, MatchesOrderedSets) {
  const int classes = GetParam();
  std::vector<JobLine> lines;
  for (int j = 0; j < 64; ++j) lines.push_back({0, j % classes + 1, 1});
  const Scene scene("1x8", jobs_of(lines));
  World world(scene.fixed(), scene.size());
  const View view(scene.fixed(), world.state(), InformationLevel::kBlind);
  Memory memory;
  memory.reset(RankedQueue::bytes(view));
  using Order = std::set<std::pair<double, int32_t>>;  // key, slot
  std::vector<Order> model(static_cast<size_t>(classes));
  std::vector<char> in(64, 0);
  Rng rng(11);
  for (int i = 0; i < 10000; ++i) {
    memory = Memory(memory);
    BumpAllocator bump(memory.data());
    RankedQueue ranked(view, bump);
    ASSERT_EQ(bump.allocate<std::byte>(0), memory.data() + RankedQueue::bytes(view));
    const auto slot = static_cast<int32_t>(rng.below(64));
    Order& order = model[static_cast<size_t>(slot % classes)];
    if (!in[static_cast<size_t>(slot)]) {
      const double key = rng.below(8);  // ties go by serial, here the slot
      ranked.push(slot % classes, slot, {key, slot});
      order.insert({key, slot});
      in[static_cast<size_t>(slot)] = 1;
    } else {
      in[static_cast<size_t>(order.begin()->second)] = 0;
      order.erase(order.begin());
      ranked.pop(slot % classes);
    }
    const auto gpus = static_cast<int32_t>(rng.below(10));
    int32_t best = kNone;
    for (int32_t c = 0; c < classes; ++c) {
      const Order& its = model[static_cast<size_t>(c)];
      ASSERT_EQ(ranked.top(c), its.empty() ? kNone : its.begin()->second);
      const bool hidden = rng.below(3) == 0;
      if (hidden) ranked.hide_class(c);
      if (scene.fixed().jobs.class_gpus[c] > gpus || its.empty() || hidden) continue;
      if (best == kNone || *its.begin() < *model[static_cast<size_t>(best)].begin()) best = c;
    }
    ASSERT_EQ(ranked.first_fitting_class(view, gpus), best);
    for (int32_t c = 0; c < classes; ++c) ranked.show(c);
  }
}

INSTANTIATE_TEST_SUITE_P(Classes, Ranking, ::testing::Values(1, 2, 3, 4, 5, 8));

TEST(RankedQueue, IsEmptyWithoutClasses) {
  const Scene scene("1x8", {});
  World world(scene.fixed(), 1);
  const View view(scene.fixed(), world.state(), InformationLevel::kBlind);
  Memory memory;
  memory.reset(RankedQueue::bytes(view));
  BumpAllocator bump(memory.data());
  EXPECT_EQ(RankedQueue(view, bump).first_fitting_class(view, 8), kNone);
}

}  // namespace
}  // namespace yard::testing
