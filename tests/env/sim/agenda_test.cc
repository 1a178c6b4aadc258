// The indexed heap of events against an ordered set.
#include "env/sim/agenda.h"

#include <gtest/gtest.h>

#include <set>
#include <tuple>
#include <vector>

#include "env/base/rng.h"

namespace yard {
namespace {

struct Owned {
  explicit Owned(int32_t slots)
      : words((Agenda::bytes(slots) + 7) / 8),
        agenda(Agenda::at(reinterpret_cast<std::byte*>(words.data()), slots)) {
    agenda.clear(slots);
  }
  std::vector<uint64_t> words;
  Agenda agenda;
};

TEST(Agenda, IsEmptyAtFirst) {
  Owned owned(3);
  EXPECT_EQ(owned.agenda.next_us(), kNever);
  owned.agenda.remove(1);  // nothing to remove
  EXPECT_EQ(*owned.agenda.size, 0);
}

TEST(Agenda, EqualTimesGoByJobWhateverTheSlots) {
  Owned owned(4);
  owned.agenda.put(0, 30, 5);
  owned.agenda.put(1, 10, 5);
  owned.agenda.put(2, 20, 5);
  std::vector<int32_t> jobs;
  while (owned.agenda.next_us() != kNever) {
    const int32_t slot = owned.agenda.top();
    jobs.push_back(owned.agenda.heap[0].job);
    owned.agenda.remove(slot);
  }
  EXPECT_EQ(jobs, (std::vector<int32_t>{10, 20, 30}));
}

TEST(Agenda, DoesAsAnOrderedSetDoes) {
  for (const int32_t slots : {1, 2, 5, 6, 37, 300}) {
    Owned owned(slots);
    Agenda& agenda = owned.agenda;
    std::set<std::tuple<int64_t, int32_t, int32_t>> model;  // time, job, slot
    std::vector<std::tuple<int64_t, int32_t, int32_t>> at(static_cast<size_t>(slots),
                                                          {kNever, 0, kNone});
    Rng rng = Rng(2).split(static_cast<uint64_t>(slots));
    for (int i = 0; i < 20000; ++i) {
      const auto slot = static_cast<int32_t>(rng.below(static_cast<uint32_t>(slots)));
      auto& mine = at[static_cast<size_t>(slot)];
      if (rng.below(3) > 0) {  // put: new, sooner or later than before; times often equal
        model.erase(mine);
        const int32_t job = 1000 - slot;
        mine = {static_cast<int64_t>(rng.below(50)), job, slot};
        model.insert(mine);
        agenda.put(slot, job, std::get<0>(mine));
      } else {
        const int32_t gone = model.empty() || rng.below(2) == 0 ? slot : agenda.top();
        model.erase(at[static_cast<size_t>(gone)]);
        at[static_cast<size_t>(gone)] = {kNever, 0, kNone};
        agenda.remove(gone);
      }
      ASSERT_EQ(*agenda.size, static_cast<int32_t>(model.size()));
      if (model.empty()) {
        ASSERT_EQ(agenda.next_us(), kNever);
      } else {
        ASSERT_EQ(agenda.next_us(), std::get<0>(*model.begin()));
        ASSERT_EQ(agenda.top(), std::get<2>(*model.begin()));
      }
    }
  }
}

}  // namespace
}  // namespace yard
