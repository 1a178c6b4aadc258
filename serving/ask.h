// One decider, one snapshot: its plan in the words of the request, looked at by the guard; or why
// there is none.
#pragma once

#include <string>

#include "policies/policy.h"
#include "serving/messages.h"
#include "serving/snapshot.h"
#include "yardmaster/v1/decision_log.pb.h"

namespace yard {

struct Answer {
  pb::Reason reason = pb::NONE;  // NONE: `response` holds actions that may be carried out
  std::string detail;
  pb::DecideResponse response;  // actions and wake_after_s only
  pb::Account account;          // where it was wanted
  double took_ms = 0;
};

enum class Accounts { kNone, kKept };

// A policy's memory above this is not kept in an account: it can be made again from the snapshot.
inline constexpr size_t kMostMemoryKept = size_t{64} << 10;

// Never throws: whatever the policy does to it becomes a reason. May take as long as the policy
// does. Requires: `request` is the snapshot's.
Answer ask(const Policy& policy, const Snapshot& snapshot, const pb::DecideRequest& request,
           Accounts accounts = Accounts::kNone);

}  // namespace yard
