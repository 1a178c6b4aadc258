// Jobs that have waited for too long, whatever the policy prefers.
#pragma once

#include <string>

#include "policies/policy.h"
#include "serving/snapshot/messages.h"
#include "serving/snapshot/run_policy.h"
#include "serving/snapshot/snapshot.h"

namespace yard {

// Returns the job that has waited longest, if that is more than `max_wait_s` (0: any time is fine).
// Only counts jobs for which the cluster would have enough GPUs were it empty, and which wait for
// nothing else: no other job, and no limit of their tenant. Null: none. Requires: `request` is the
// snapshot's.
const pb::Job* starved_job(const Snapshot& snapshot, const pb::DecideRequest& request,
                           double max_wait_s);

// Returns the request without waiting jobs that would hold up others in vain, since they cannot
// start even on an empty cluster or wait for something else. Requires: as above.
pb::DecideRequest without_held_up_jobs(const Snapshot& snapshot, const pb::DecideRequest& request);

// Runs a heuristic that places jobs which have waited too long, without those that hold up others
// in vain. Requires: as above.
PolicyResult run_for_starved(const Policy& heuristic, const Snapshot& snapshot,
                             const pb::DecideRequest& request);

// For how long a waiting job has waited, in seconds.
double wait_s(const pb::Job& job, double now_s);

}  // namespace yard
