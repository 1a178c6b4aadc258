// Shortens plans for managers that start only some jobs at a time.
#pragma once

#include "serving/snapshot/messages.h"
#include "serving/snapshot/preemption_bounds.h"

namespace yard {

// Keeps the plan's first `request.max_starts()` starts, and the preemptions that make room for
// them: of their own jobs and on their nodes. Does nothing if the request sets no such limit.
void keep_first_starts(const pb::DecideRequest& request, const PreemptionBounds& bounds,
                       pb::DecideResponse& response);

}  // namespace yard
