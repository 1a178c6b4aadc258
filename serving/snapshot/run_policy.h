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
  pb::DecideResponse response;  // only actions, wake_after_s and quarantined are set
  pb::DecisionTrace trace;      // filled for Tracing::kOn
  double elapsed_ms = 0;        // time that the policy took
  double guard_ms = 0;
  bool rebuilt = false;  // the policy's memory was rebuilt from the snapshot alone
  // Whether the policy asked for more preemptions than allowed, as `detail` says, and decided again
  // with all jobs pinned except the first one that it had asked to preempt.
  bool limited = false;
};

enum class Tracing { kNone, kOn, kWithFeatures };

// Adds to `response` the records that the snapshot set aside.
void list_quarantined(const Snapshot& snapshot, pb::DecideResponse& response);

// Never throws: every failure of the policy becomes a reason. Does not limit the policy's time.
// `memory`: what the policy remembers of the cluster; null: nothing. After the reasons NON_FINITE
// and POLICY_ERROR, the memory must not be used again. Requires: `snapshot` was made of `request`.
PolicyResult run_policy(const Policy& policy, const Snapshot& snapshot,
                        const pb::DecideRequest& request, Tracing tracing = Tracing::kNone,
                        ClusterMemory* memory = nullptr);

}  // namespace yard
