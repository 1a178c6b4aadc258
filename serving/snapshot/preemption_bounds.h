// Limits on the running jobs that a decision may preempt.
#pragma once

#include <absl/container/flat_hash_set.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

#include "serving/snapshot/messages.h"

namespace yard {

inline int64_t gpus_held(const pb::Job& job) {
  int64_t sum = 0;
  for (const pb::Piece& piece : job.placement()) sum += piece.gpus();
  return sum;
}

// Limits on preemptions in addition to those in the request.
struct PreemptionBounds {
  absl::flat_hash_set<std::string> pinned;      // ids of jobs that must not be preempted
  absl::flat_hash_set<std::string> preempting;  // ids of jobs that an earlier answer preempted
  // The most GPUs that all preempted jobs may have together, apart from jobs in `preempting`. A
  // single job may have more, unless `max_gpus` is 0.
  int64_t max_gpus = std::numeric_limits<int64_t>::max();

  int64_t max_preempted_gpus(const pb::DecideRequest& request) const {
    return request.has_max_preempted_gpus()
               ? std::min<int64_t>(max_gpus, request.max_preempted_gpus())
               : max_gpus;
  }
  bool preempts(const pb::Job& job) const {
    return job.preempting() || (!preempting.empty() && preempting.contains(job.id()));
  }
  bool is_pinned(const pb::Job& job) const {
    return job.pinned() || (!pinned.empty() && pinned.contains(job.id()));
  }
};

}  // namespace yard
