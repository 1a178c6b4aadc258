// Expected run time of a job: the time limit that its user set, as in published policies. Helios'
// rolling estimate replaces a limit that is missing, hidden from the policy or exceeded.
#pragma once

#include <algorithm>
#include <cstdint>

#include "env/predict/rolling_estimate.h"
#include "env/sim/view/view.h"

namespace yard {

class ExpectedRunTime {
 public:
  // Takes RollingEstimate::bytes() bytes of `bump`. Requires: each decision makes a new object.
  ExpectedRunTime(const View& view, BumpAllocator& bump) : view_(view), estimate_(view, bump) {
    estimate_.on_events(view);
  }

  // Returns the expected run time in seconds, which exceeds the time that the job has run.
  double total_s(int32_t slot) const {
    if (view_.level() >= InformationLevel::kEstimate) {
      const int64_t limit_us = view_.limit_us(slot);
      if (limit_us != kNone && limit_us > view_.attained_us(slot)) {
        return static_cast<double>(limit_us) * 1e-6;
      }
    }
    return estimate_.predicted_total_s(view_, slot);
  }

  // Returns total_s() minus the time that the job has run, in microseconds and at least 1.
  int64_t left_us(int32_t slot) const {
    const auto total_us = static_cast<int64_t>(total_s(slot) * 1e6);
    return std::max<int64_t>(total_us - view_.attained_us(slot), 1);
  }

 private:
  const View& view_;
  RollingEstimate estimate_;
};

}  // namespace yard
