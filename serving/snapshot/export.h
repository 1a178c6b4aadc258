// Converts a simulator state to the snapshot which a live cluster in the same state would send.
#pragma once

#include <span>

#include "env/cluster/spec.h"
#include "env/sim/state/columns.h"
#include "env/sim/state/state.h"
#include "env/trace/core/job.h"
#include "serving/snapshot/messages.h"

namespace yard {

struct EndedJob {
  int32_t job = kNone;  // index in the list of jobs
  int64_t end_us = 0;
  int64_t run_us = 0;
  double worked_us = -1;  // work done on the reference GPU type; -1: equal to run_us
};

// Returns the snapshot of `state`. Requires: `jobs` are the jobs of the state's table, and
// `finished` is in the order in which policies saw the jobs end.
pb::DecideRequest to_request(const ClusterSpec& spec, const std::vector<Job>& jobs,
                             const SimModel& fixed, const SimState& state,
                             std::span<const EndedJob> finished);

}  // namespace yard
