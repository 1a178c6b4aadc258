// The total reward so far of the agents Harmony and DL2: the share of its training that each job
// has done, summed over jobs.
#pragma once

#include <algorithm>

#include "env/sim/view/view.h"

namespace yard {

// Returns the number of finished jobs plus, for each unfinished job (stopping ones included), the
// share of its work done. The user's limit stands for a job's total work. Requires: level() >=
// kEstimate.
inline double total_job_progress(const View& view) {
  double sum = view.num_finished();
  for (int32_t slot = 0; slot < view.slot_high_water(); ++slot) {
    if (view.phase(slot) == Phase::kFree || view.finished(slot)) continue;
    const int64_t all = view.limit_us(slot);
    if (all <= 0) continue;
    sum += std::min(
        1.0, static_cast<double>(view.work_done_in_whole_us(slot)) / static_cast<double>(all));
  }
  return sum;
}

}  // namespace yard
