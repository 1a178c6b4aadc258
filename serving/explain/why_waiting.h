// Why a job waits after a decision.
#pragma once

#include <optional>

#include "serving/snapshot/messages.h"

namespace yard {

// Returns nothing if the decision starts the job. Requires: the job is one of the request's.
std::optional<pb::WhyWaiting> why_waiting(const pb::Job& job, const pb::DecideRequest& request,
                                          const pb::DecideResponse& decision);

}  // namespace yard
