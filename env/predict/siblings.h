// The latest submitted jobs of one user (or, without users, of one size) that have started.
#pragma once

#include <algorithm>
#include <cstdint>

namespace yard {

struct LatestStartedJobs {
  static constexpr int32_t kMaxSiblings = 128;

  struct Sibling {
    int64_t submit_us;
    int32_t gpus;
    int32_t slot;   // slot while the job is in the system, -1 afterwards
    int32_t bin;    // last bin of the job, once the job is over
    int32_t ended;  // 1: the job ended in its last bin, and not by its limit
  };
  Sibling entries[kMaxSiblings];  // siblings by rising submit_us
  int32_t count, unused;

  // Adds a job that starts. If the table is full, drops the job that was submitted first.
  void enter(int64_t submit_us, int32_t gpus, int32_t slot) {
    int32_t at = count;
    if (count == kMaxSiblings) {
      if (submit_us < entries[0].submit_us) return;
      at = kMaxSiblings - 1;
      for (int32_t i = 0; i < at; ++i) entries[i] = entries[i + 1];
    } else {
      ++count;
    }
    for (; at > 0 && entries[at - 1].submit_us > submit_us; --at) entries[at] = entries[at - 1];
    entries[at] = {submit_us, gpus, slot, 0, 0};
  }

  // Marks the job of a slot as over, since the slot will be reused.
  void end(int32_t slot, int32_t bin, bool ended) {
    for (int32_t i = 0; i < count; ++i) {
      if (entries[i].slot == slot)
        entries[i].slot = -1, entries[i].bin = bin, entries[i].ended = ended;
    }
  }

  // Calls does(job) for each job that was submitted within `far_us` of `submit_us`.
  template <class Does>
  void for_each_submitted_near(int64_t submit_us, int64_t far_us, const Does& does) const {
    const Sibling* at = std::ranges::lower_bound(entries, entries + count, submit_us - far_us, {},
                                                 &Sibling::submit_us);
    for (; at < entries + count && at->submit_us <= submit_us + far_us; ++at) does(*at);
  }
};

}  // namespace yard
