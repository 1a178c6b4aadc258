// How much a decision may disturb running jobs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <unordered_set>

#include "serving/snapshot/messages.h"

namespace yard {

inline int64_t gpus_held(const pb::Job& job) {
  int64_t sum = 0;
  for (const pb::Piece& piece : job.placement()) sum += piece.gpus();
  return sum;
}

// In addition to what the request says.
struct PreemptionBounds {
  std::unordered_set<std::string> pinned;      // ids of jobs that must not be preempted
  std::unordered_set<std::string> preempting;  // of jobs that an earlier answer preempted
  // Running jobs with so many GPUs together may be preempted besides those. One job may have more,
  // unless it is 0.
  int64_t max_gpus = std::numeric_limits<int64_t>::max();

  int64_t max_gpus_of(const pb::DecideRequest& request) const {
    return request.has_max_preempted_gpus()
               ? std::min<int64_t>(max_gpus, request.max_preempted_gpus())
               : max_gpus;
  }
  bool preempts(const pb::Job& job) const {
    return job.preempting() || (!preempting.empty() && preempting.contains(job.id()));
  }
  bool pins(const pb::Job& job) const {
    return job.pinned() || (!pinned.empty() && pinned.contains(job.id()));
  }
};

}  // namespace yard
