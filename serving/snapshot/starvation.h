// Finds jobs that have waited too long, whatever the policy prefers.
#pragma once

#include <string>

#include "policies/policy.h"
#include "serving/snapshot/messages.h"
#include "serving/snapshot/run_policy.h"
#include "serving/snapshot/snapshot.h"

namespace yard {

// Returns the job that has waited longest if its wait exceeds `max_wait_s`, else null. A
// `max_wait_s` of 0 allows any wait. Only jobs count for which the empty cluster would have enough
// GPUs, and which wait neither for another job nor because of a tenant's limit. Requires:
// `snapshot` was made of `request`.
const pb::Job* starved_job(const Snapshot& snapshot, const pb::DecideRequest& request,
                           double max_wait_s);

// Returns the request without waiting jobs which cannot start even on an empty cluster, or wait for
// another job or because of a tenant's limit. Requires: `snapshot` was made of `request`.
pb::DecideRequest without_blocked_jobs(const Snapshot& snapshot, const pb::DecideRequest& request);

// Runs `heuristic`, which starts jobs that have waited too long, on the request without blocked
// jobs. Requires: `request` is the snapshot's.
PolicyResult run_without_blocked_jobs(const Policy& heuristic, const Snapshot& snapshot,
                                      const pb::DecideRequest& request);

// Returns the seconds for which a waiting job has waited.
double wait_s(const pb::Job& job, double now_s);

}  // namespace yard
