// Time left of a job as a line over time: by the true run time, for an oracle, or by the limit that
// its user set.
#pragma once

#include <cstdint>

#include "env/sim/view/view.h"

namespace yard {

struct TrueRemainingTime {
  static constexpr Level kLevel = Level::kOracle;
  static LinearDecrease line(const View& view, int32_t slot) { return view.left_line(slot); }
};

struct RemainingTimeByLimit {
  static constexpr Level kLevel = Level::kEstimate;
  // Negative once the limit is passed.
  static LinearDecrease line(const View& view, int32_t slot) {
    constexpr double kNoLimit = 1e18;  // key of jobs without a limit, which come after all others
    const int64_t limit_us = view.limit_us(slot);
    if (limit_us == kNone) return {kNoLimit, 0};
    const int64_t left_us = limit_us - view.attained_us(slot);
    if (view.phase(slot) != Phase::kRunning) return {static_cast<double>(left_us), 0};
    return {static_cast<double>(left_us + view.now_us()), 1};
  }
};

}  // namespace yard
