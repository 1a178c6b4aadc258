// Records the outcome of a rule on a fixed workload. It verifies a checkpoint without a network,
// which has no logits to compare.
#pragma once

#include "policies/learned/checkpoint.h"

namespace yard {

// Replays 256 jobs of `synthetic:mixed` on `mixed-9`. Returns decisions, preemptions and JCTs,
// which are identical to the bit on any machine where all decisions are the same.
nlohmann::ordered_json run_golden_workload(const Checkpoint& checkpoint);

}  // namespace yard
