// What Harmony and DL2 are paid for: work, counted by the share of its job that it is.
#pragma once

#include <algorithm>

#include "env/sim/view.h"

namespace yard {

// Jobs that have ended, and of the others the share that is done, by what their users say is all
// of it. Requires: level() >= kEstimate.
inline double jobs_trained(const View& view) {
  double sum = view.num_finished();
  const auto count = [&](int32_t slot) {
    const int64_t all = view.limit_us(slot);
    if (all <= 0) return;
    sum += std::min(1.0, static_cast<double>(view.worked_us(slot)) / static_cast<double>(all));
  };
  for (int32_t i = 0; i < view.num_held(); ++i) count(view.held(i));
  for (int32_t slot = view.queue_head(); slot != kNone; slot = view.queue_next(slot)) count(slot);
  return sum;
}

}  // namespace yard
