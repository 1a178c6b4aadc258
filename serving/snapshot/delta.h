// Applies and makes deltas: requests that hold only what changed since an earlier request.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "env/sim/state/columns.h"
#include "serving/snapshot/messages.h"

namespace yard {

// Largest number of finished jobs that a state keeps. The oldest jobs are dropped first.
inline constexpr int kMaxKeptFinished = 4096;

// Where the records of a changed state come from.
struct DeltaOrigins {
  // Whether nodes, GPU types or tenants may have changed.
  bool cluster_changed = false;
  // By index in the changed state: the index in the state before; kNone: a new or replaced record.
  std::vector<int32_t> jobs, finished;
};

// Changes a state by a delta. A node or job in the delta replaces the one with its name or id in
// the state. It is appended if the state has none or the delta also removes the old one. Running
// jobs not in the delta run on. GPU types, tenants and costs stay, unless the delta has any.
// Finished jobs of the delta are added to the state's. All other fields are the delta's. Throws
// InputError, with the state as it was, if the delta has a node or job twice. Requires: the state
// has each node and job once. Returns where the records come from.
DeltaOrigins apply_delta_in_place(pb::DecideRequest& state, const pb::DecideRequest& delta);

// Returns a copy on an arena of its own, which makes copying cheap.
std::shared_ptr<pb::DecideRequest> copy_state(const pb::DecideRequest& state);

// Returns a copy of `base` changed by `delta`, as apply_delta_in_place() does.
std::shared_ptr<pb::DecideRequest> apply_delta(const pb::DecideRequest& base,
                                               const pb::DecideRequest& delta);

// Returns the delta which turns `before` into `after`, with times rounded to microseconds. Returns
// nothing if no delta can express the change, as of a node without a name. Requires: both snapshots
// have a state_version.
std::optional<pb::DecideRequest> delta_between(const pb::DecideRequest& before,
                                               const pb::DecideRequest& after);

}  // namespace yard
