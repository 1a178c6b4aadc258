// How long a job will have run when it ends, as published orders ask for it: the user's limit, and
// where she set none, or none may be seen, Helios' rolling estimate.
#pragma once

#include <algorithm>
#include <cstdint>

#include "env/predict/rolling_estimate.h"
#include "env/sim/view.h"

namespace yard {

class ExpectedTime {
 public:
  // Takes RollingEstimate::bytes(); to be made at every decision.
  ExpectedTime(const View& view, Carver& carver) : view_(view), estimate_(view, carver) {
    estimate_.follow(view);
  }

  // Seconds, more than the job has run.
  double total_s(int32_t slot) const {
    if (view_.level() >= Level::kEstimate) {
      const int64_t limit_us = view_.limit_us(slot);
      if (limit_us != kNone && limit_us > view_.attained_us(slot)) {
        return static_cast<double>(limit_us) * 1e-6;
      }
    }
    return estimate_.total_s(view_, slot);
  }

  // Microseconds that are left of that; at least one.
  int64_t left_us(int32_t slot) const {
    const auto total_us = static_cast<int64_t>(total_s(slot) * 1e6);
    return std::max<int64_t>(total_us - view_.attained_us(slot), 1);
  }

 private:
  const View& view_;
  RollingEstimate estimate_;
};

}  // namespace yard
