// Expected run time of a job, as published orders use it: the user's limit. Without a limit, or at
// a level of information that hides it, Helios' rolling estimate.
#pragma once

#include <algorithm>
#include <cstdint>

#include "env/predict/rolling_estimate.h"
#include "env/sim/view/view.h"

namespace yard {

class ExpectedRunTime {
 public:
  // Uses RollingEstimate::bytes() of memory. Requires: constructed at every decision.
  ExpectedRunTime(const View& view, BumpAllocator& bump) : view_(view), estimate_(view, bump) {
    estimate_.on_events(view);
  }

  // Returns the expected run time in seconds; more than the job has run so far.
  double total_s(int32_t slot) const {
    if (view_.level() >= Level::kEstimate) {
      const int64_t limit_us = view_.limit_us(slot);
      if (limit_us != kNone && limit_us > view_.attained_us(slot)) {
        return static_cast<double>(limit_us) * 1e-6;
      }
    }
    return estimate_.total_s(view_, slot);
  }

  // Returns the rest of total_s() in microseconds; at least 1.
  int64_t left_us(int32_t slot) const {
    const auto total_us = static_cast<int64_t>(total_s(slot) * 1e6);
    return std::max<int64_t>(total_us - view_.attained_us(slot), 1);
  }

 private:
  const View& view_;
  RollingEstimate estimate_;
};

}  // namespace yard
