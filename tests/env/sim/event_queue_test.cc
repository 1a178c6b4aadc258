// The indexed heap of events against an ordered set.
#include "env/sim/state/event_queue.h"

#include <gtest/gtest.h>

#include <set>
#include <tuple>
#include <vector>

#include "env/base/core/rng.h"

namespace yard {
namespace {

struct Owned {
  explicit Owned(int32_t slots)
      : words((EventQueue::bytes(slots) + 7) / 8),
        event_queue(EventQueue::at(reinterpret_cast<std::byte*>(words.data()), slots)) {
    event_queue.clear(slots);
  }
  std::vector<uint64_t> words;
  EventQueue event_queue;
};

TEST(EventQueue, IsEmptyAtFirst) {
  Owned owned(3);
  EXPECT_EQ(owned.event_queue.next_us(), kNever);
  owned.event_queue.remove(1);  // nothing to remove
  EXPECT_EQ(*owned.event_queue.size, 0);
}

TEST(EventQueue, EqualTimesAreOrderedByJobNotSlot) {
  Owned owned(4);
  owned.event_queue.put(0, 30, 5);
  owned.event_queue.put(1, 10, 5);
  owned.event_queue.put(2, 20, 5);
  std::vector<int32_t> jobs;
  while (owned.event_queue.next_us() != kNever) {
    const int32_t slot = owned.event_queue.top();
    jobs.push_back(owned.event_queue.heap[0].job);
    owned.event_queue.remove(slot);
  }
  EXPECT_EQ(jobs, (std::vector<int32_t>{10, 20, 30}));
}

TEST(EventQueue, MatchesAnOrderedSet) {
  for (const int32_t slots : {1, 2, 5, 6, 37, 300}) {
    Owned owned(slots);
    EventQueue& event_queue = owned.event_queue;
    std::set<std::tuple<int64_t, int32_t, int32_t>> model;  // time, job, slot
    std::vector<std::tuple<int64_t, int32_t, int32_t>> at(static_cast<size_t>(slots),
                                                          {kNever, 0, kNone});
    Rng rng = Rng(2).split(static_cast<uint64_t>(slots));
    for (int i = 0; i < 20000; ++i) {
      const auto slot = static_cast<int32_t>(rng.below(static_cast<uint32_t>(slots)));
      auto& mine = at[static_cast<size_t>(slot)];
      if (rng.below(3) > 0) {  // put: insert or reschedule; many times are equal
        model.erase(mine);
        const int32_t job = 1000 - slot;
        mine = {static_cast<int64_t>(rng.below(50)), job, slot};
        model.insert(mine);
        event_queue.put(slot, job, std::get<0>(mine));
      } else {
        const int32_t gone = model.empty() || rng.below(2) == 0 ? slot : event_queue.top();
        model.erase(at[static_cast<size_t>(gone)]);
        at[static_cast<size_t>(gone)] = {kNever, 0, kNone};
        event_queue.remove(gone);
      }
      ASSERT_EQ(*event_queue.size, static_cast<int32_t>(model.size()));
      if (model.empty()) {
        ASSERT_EQ(event_queue.next_us(), kNever);
      } else {
        ASSERT_EQ(event_queue.next_us(), std::get<0>(*model.begin()));
        ASSERT_EQ(event_queue.top(), std::get<2>(*model.begin()));
      }
    }
  }
}

}  // namespace
}  // namespace yard
