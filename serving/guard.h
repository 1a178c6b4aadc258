// The last look at a decision before it leaves the house, from the messages alone: it shares no
// code with the rules, masks and drafts by which decisions are made.
#pragma once

#include <string>

#include "serving/messages.h"

namespace yard {

// Returns why the decision must not be carried out, "" if it may.
// Requires: the request passed Snapshot's checks.
std::string why_refused(const pb::DecideRequest& request, const pb::DecideResponse& response);

}  // namespace yard
