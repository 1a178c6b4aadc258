// Applies and makes deltas: requests that hold only what changed since an earlier request.
#pragma once

#include <memory>
#include <optional>

#include "serving/snapshot/messages.h"

namespace yard {

// Largest number of finished jobs that a state keeps. The oldest jobs are dropped first.
inline constexpr int kMaxKeptFinished = 4096;

// Returns `base` changed by `delta`. A node or job in the delta replaces the base's one of that
// name or id, or comes last if the base has none or the delta removes it. Running jobs not in the
// delta run on. GPU types, tenants and costs stay, unless the delta has any. Finished jobs of the
// delta are added to the base's. All other fields are the delta's. Throws InputError if the delta
// has a node or job twice. Requires: the base has each node and job once.
std::shared_ptr<pb::DecideRequest> apply_delta(const pb::DecideRequest& base,
                                               const pb::DecideRequest& delta);

// Returns the delta which turns `before` into `after`, with times rounded to microseconds. Returns
// nothing if no delta can express the change, as of a node without a name. Requires: both snapshots
// have a state_version.
std::optional<pb::DecideRequest> delta_between(const pb::DecideRequest& before,
                                               const pb::DecideRequest& after);

}  // namespace yard
