// Applies and makes deltas: requests that hold only what changed since an earlier request.
#pragma once

#include <memory>

#include "serving/snapshot/messages.h"

namespace yard {

// Largest number of finished jobs that a state keeps. The oldest jobs are dropped first.
inline constexpr int kMaxKeptFinished = 4096;

// Returns `base` changed by `delta`. A node or job in the delta replaces the base's one of that
// name or id, or comes last if it is new. Running jobs not in the delta run on. GPU types,
// tenants and costs stay, unless the delta has any. Finished jobs of the delta are added to the
// base's. All other fields are the delta's. Throws InputError if the delta has a node or job twice.
// Requires: the base has each node and job once.
std::shared_ptr<pb::DecideRequest> apply_delta(const pb::DecideRequest& base,
                                               const pb::DecideRequest& delta);

// Returns a delta which turns `before` into `after`. Both snapshots need a state_version. The delta
// has all finished jobs of `after`. Requires: the jobs and nodes that are in both snapshots come in
// the same order, before new ones.
pb::DecideRequest delta_between(const pb::DecideRequest& before, const pb::DecideRequest& after);

}  // namespace yard
