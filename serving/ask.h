// One decider, one snapshot: its plan in the words of the request, looked at by the guard; or why
// there is none.
#pragma once

#include <string>

#include "policies/policy.h"
#include "serving/messages.h"
#include "serving/snapshot.h"

namespace yard {

struct Answer {
  pb::Reason reason = pb::NONE;  // NONE: `response` holds actions that may be carried out
  std::string detail;
  pb::DecideResponse response;  // actions and wake_after_s only
  double took_ms = 0;
};

// Never throws: whatever the policy does to it becomes a reason. May take as long as the policy
// does. Requires: `request` is the snapshot's.
Answer ask(const Policy& policy, const Snapshot& snapshot, const pb::DecideRequest& request);

}  // namespace yard
