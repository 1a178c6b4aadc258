// Applies deltas: requests that say what changed since an earlier one.
#pragma once

#include <memory>

#include "serving/snapshot/messages.h"

namespace yard {

// Finished jobs that a state keeps. Older ones go first.
inline constexpr int kMaxKeptFinished = 4096;

// Returns the full snapshot after the delta. Nodes and jobs replace those of the same name or id;
// new ones come last. Running jobs that the delta does not list have run on. Types, tenants and
// costs are as before, unless the delta gives some. Finished jobs are added. All other fields are
// those of the delta. Throws InputError if the delta has a node or job twice.
// Requires: the base has each once.
std::shared_ptr<pb::DecideRequest> apply_delta(const pb::DecideRequest& base,
                                               const pb::DecideRequest& delta);

// Returns a delta which makes `after` of `before`. Both need a state_version. Its finished jobs are
// all those of `after`. Requires: jobs and nodes that are in both come in the same order, before
// new ones.
pb::DecideRequest delta_between(const pb::DecideRequest& before, const pb::DecideRequest& after);

}  // namespace yard
