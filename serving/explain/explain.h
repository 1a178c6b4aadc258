// Explains decisions to an operator: which options the policy saw and how it scored them, and why
// jobs wait.
#pragma once

#include <string>

#include "policies/policy.h"
#include "serving/snapshot/messages.h"

namespace yard {

// Repeats the decision of `policy` on the request, with what the network saw of each option.
// `answer`: the decision that was sent; null: the one made here is explained. If the repetition
// has other actions than the answer, since the policy remembered something then, its options are
// left out and `detail` says so. `job`: explains why this job waits; empty: all jobs, at most a
// hundred. Throws InputError if the request contradicts itself or has no such job.
pb::ExplainResponse explain(const Policy& policy, const pb::DecideRequest& request,
                            const pb::DecideResponse* answer, const std::string& job);

}  // namespace yard
