// What Harmony and DL2 are paid for: work, counted by the share of its job that it is.
#pragma once

#include <algorithm>

#include "env/sim/view.h"

namespace yard {

// Jobs that have ended, and of the others, those that are being stopped among them, the share that
// is done, by what their users say is all of it. Requires: level() >= kEstimate.
inline double jobs_trained(const View& view) {
  double sum = view.num_finished();
  for (int32_t slot = 0; slot < view.high_water(); ++slot) {
    if (view.phase(slot) == Phase::kFree || view.finished(slot)) continue;
    const int64_t all = view.limit_us(slot);
    if (all <= 0) continue;
    sum += std::min(1.0, static_cast<double>(view.worked_us(slot)) / static_cast<double>(all));
  }
  return sum;
}

}  // namespace yard
