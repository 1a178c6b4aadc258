// Search trees of moving keys against a sorted list. Their memory is moved between uses.
#include "policies/held_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "env/base/core/rng.h"

namespace yard::testing {
namespace {

TEST(LinearKeyTreap, MatchesASortedList) {
  constexpr int32_t kJobs = 48;
  Memory memory;
  memory.reset(LinearKeyTreap::bytes(kJobs));
  std::map<int32_t, std::pair<LinearDecrease, int32_t>> model;  // with the serial
  Rng rng(5);
  for (int64_t now_us = 0; now_us < 20'000; ++now_us) {
    memory = Memory(memory);
    BumpAllocator bump(memory.data());
    LinearKeyTreap order(kJobs, bump);
    const auto slot = static_cast<int32_t>(rng.below(kJobs));
    if (rng.below(3) == 0) {
      order.remove(slot);
      model.erase(slot);
    } else {  // ties go by serial
      const double slope = 0.5 * rng.below(4), now = static_cast<double>(now_us);
      const double at_zero = rng.below(2) == 0 ? slope * now + rng.below(8) : 5000 * rng.below(2);
      const auto serial = static_cast<int32_t>(slot + kJobs * rng.below(2));
      order.put(slot, {at_zero, slope}, serial);
      model[slot] = {{at_zero, slope}, serial};
    }
    std::vector<RankedJob> sorted;
    for (const auto& [job, stands] : model) {
      const auto& [line, serial] = stands;
      ASSERT_TRUE(order.has(job));
      sorted.push_back({{line.at(now_us), serial}, job});
      ASSERT_EQ(order.key(job, now_us).value, line.at(now_us));
      ASSERT_EQ(order.key(job, now_us).serial, serial);
    }
    std::sort(sorted.begin(), sorted.end(),
              [](const RankedJob& a, const RankedJob& b) { return b.key < a.key; });
    ASSERT_EQ(order.last(now_us), sorted.empty() ? kNone : sorted.front().slot);
    LinearKeyTreap::Walk walk(order, now_us);
    for (const RankedJob& claim : sorted) ASSERT_EQ(walk.next().slot, claim.slot) << now_us;
    ASSERT_EQ(walk.next().slot, kNone);
  }
}

TEST(LinearKeyTreap, UsesTheMemoryItDeclares) {
  for (const int32_t slots : {1, 2, 7, 48}) {
    Memory memory;
    memory.reset(LinearKeyTreap::bytes(slots));
    BumpAllocator bump(memory.data());
    const LinearKeyTreap order(slots, bump);
    EXPECT_EQ(bump.allocate<std::byte>(0), memory.data() + LinearKeyTreap::bytes(slots)) << slots;
  }
}

}  // namespace
}  // namespace yard::testing
