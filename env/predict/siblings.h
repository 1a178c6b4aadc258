// The jobs of one user, or of one size where nobody is named, that have begun: the last submitted
// of them, by submission. Which they are, and what they add up to, does not depend on the order in
// which they began.
#pragma once

#include <cstdint>

#include "env/predict/hazard.h"

namespace yard {

struct Siblings {
  static constexpr int32_t kMost = 128;

  struct Begun {
    int64_t submit_us;
    int32_t gpus;
    int32_t slot;   // while it lives, -1 after that
    int32_t bin;    // in which it was last, once it is over
    int32_t ended;  // whether it ended in it, not by its limit
  };
  Begun begun[kMost];  // by rising submit_us
  int32_t count, unused;

  // Takes in a job that begins. Where there is no room the one that was submitted first goes.
  void enter(int64_t submit_us, int32_t gpus, int32_t slot) {
    int32_t at = count;
    if (count == kMost) {
      if (submit_us < begun[0].submit_us) return;
      at = kMost - 1;
      for (int32_t i = 0; i < at; ++i) begun[i] = begun[i + 1];
    } else {
      ++count;
    }
    for (; at > 0 && begun[at - 1].submit_us > submit_us; --at) begun[at] = begun[at - 1];
    begun[at] = {submit_us, gpus, slot, 0, 0};
  }

  // Its slot will be somebody else's.
  void end(int32_t slot, int32_t bin, bool ended) {
    for (int32_t i = 0; i < count; ++i) {
      if (begun[i].slot == slot) begun[i].slot = -1, begun[i].bin = bin, begun[i].ended = ended;
    }
  }

  // Calls does(job) for those that were submitted within `far_us` of a time.
  template <class Does>
  void near(int64_t submit_us, int64_t far_us, const Does& does) const {
    int32_t low = 0;
    for (int32_t high = count; low < high;) {
      const int32_t middle = (low + high) / 2;
      if (begun[middle].submit_us < submit_us - far_us) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    for (; low < count && begun[low].submit_us <= submit_us + far_us; ++low) does(begun[low]);
  }
};

}  // namespace yard
