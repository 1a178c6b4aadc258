// The time left of a job as a linear function of time: by its true run time, which only an oracle
// sees, or by the time limit that its user set.
#pragma once

#include <cstdint>

#include "env/sim/view/view.h"

namespace yard {

struct TrueRemainingTime {
  static constexpr InformationLevel kLevel = InformationLevel::kOracle;
  static LinearDecrease line(const View& view, int32_t slot) { return view.work_left_line(slot); }
};

struct RemainingTimeByLimit {
  static constexpr InformationLevel kLevel = InformationLevel::kEstimate;
  // Returns the time until the user's limit, which is negative after the limit.
  static LinearDecrease line(const View& view, int32_t slot) {
    constexpr double kNoLimit = 1e18;  // puts jobs without a limit after jobs with a limit
    const int64_t limit_us = view.limit_us(slot);
    if (limit_us == kNone) return {kNoLimit, 0};
    const int64_t left_us = limit_us - view.attained_us(slot);
    if (view.phase(slot) != Phase::kRunning) return {static_cast<double>(left_us), 0};
    return {static_cast<double>(left_us + view.now_us()), 1};
  }
};

}  // namespace yard
