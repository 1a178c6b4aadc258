// The figures of a snapshot that the envelope of an agent bounds.
#pragma once

#include "policies/learned/envelope.h"
#include "serving/snapshot/snapshot.h"

namespace yard {

// Returns the figures without records that were set aside; they equal those of a View of the same
// cluster.
inline WorkloadFigures workload_of(const Snapshot& snapshot) {
  WorkloadSums sums(snapshot.spec(), snapshot.spec().total_gpus);
  for (const LiveJob& one : snapshot.live_jobs()) {
    const int32_t gpus = snapshot.jobs()[static_cast<size_t>(one.job)]->gpus;
    if (one.phase == Phase::kWaiting) sums.add_waiting(gpus, snapshot.now_us() - one.since_us);
    if (one.phase == Phase::kStarting || one.phase == Phase::kRunning) {
      sums.add_holding(gpus, one.attained_us);
    }
  }
  return sums.workload();
}

}  // namespace yard
