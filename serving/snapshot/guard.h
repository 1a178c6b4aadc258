// Final check of a decision before it is sent. The check reads only the request and the
// response, and shares no code with the rules, masks and drafts that make decisions.
#pragma once

#include <string>

#include "serving/snapshot/messages.h"
#include "serving/snapshot/preemption_bounds.h"
#include "serving/snapshot/quarantine.h"

namespace yard {

// Returns why the decision is illegal, or "" if it is legal. An action on a job that the snapshot
// set aside is illegal. Requires: the request has passed the checks of the class Snapshot.
std::string flaw_of_decision(const pb::DecideRequest& request, const pb::DecideResponse& response,
                             const PreemptionBounds& bounds = {}, const Quarantine& set_aside = {});

}  // namespace yard
