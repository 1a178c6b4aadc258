// From a state of the simulator to the snapshot that a live cluster in the same place would send.
#pragma once

#include <span>

#include "env/cluster/spec.h"
#include "env/sim/columns.h"
#include "env/sim/state.h"
#include "env/trace/job.h"
#include "serving/messages.h"

namespace yard {

struct Finished {
  int32_t job = kNone;  // index into the jobs
  int64_t end_us = 0;
  int64_t run_us = 0;
};

// Requires: `jobs` are those of the state's table; `finished` in the order in which policies were
// told of them.
pb::DecideRequest to_request(const ClusterSpec& spec, const std::vector<Job>& jobs,
                             const Fixed& fixed, const ClusterState& state,
                             std::span<const Finished> finished);

}  // namespace yard
