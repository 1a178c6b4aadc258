// Runs a policy on a snapshot. Returns a legal plan, or the reason why the policy has no legal
// plan.
#pragma once

#include <string>

#include "policies/policy.h"
#include "serving/snapshot/cluster_memory.h"
#include "serving/snapshot/messages.h"
#include "serving/snapshot/snapshot.h"
#include "yardmaster/v1/decision_log.pb.h"

namespace yard {

struct PolicyResult {
  pb::Reason reason = pb::NONE;  // NONE: the actions in `response` are legal
  std::string detail;
  pb::DecideResponse response;  // actions, wake_after_s and quarantined only
  pb::DecisionTrace trace;      // filled for Tracing::kOn
  double elapsed_ms = 0;        // of the policy
  double guard_ms = 0;
  bool rebuilt = false;  // the policy's memory was rebuilt from the snapshot alone
  // The policy wanted to preempt more than is allowed, as `detail` says, and decided again with all
  // jobs pinned but the first that it wanted to preempt.
  bool limited = false;
};

enum class Tracing { kNone, kOn, kWithFeatures };

// Names the records of the snapshot that were set aside.
void list_quarantined(const Snapshot& snapshot, pb::DecideResponse& response);

// Never throws: every failure of the policy becomes a reason. Takes as long as the policy does.
// `memory`: what the policy remembers of the cluster; null: nothing. If the result has the reason
// NON_FINITE or POLICY_ERROR, it is no longer of use. Requires: `request` is the snapshot's.
PolicyResult run_policy(const Policy& policy, const Snapshot& snapshot,
                        const pb::DecideRequest& request, Tracing tracing = Tracing::kNone,
                        ClusterMemory* memory = nullptr);

}  // namespace yard
