// Records the outcome of a checkpoint on a fixed workload. The outcome verifies a checkpoint
// without a network, for which no logits can be compared.
#pragma once

#include "policies/learned/checkpoint.h"

namespace yard {

// Replays 256 jobs of `synthetic:mixed` on `mixed-9`. Returns decisions, preemptions and JCTs.
// Machines which make the same decisions return exactly the same values.
nlohmann::ordered_json run_golden_workload(const Checkpoint& checkpoint);

}  // namespace yard
