// What a rule does, recorded so that any machine can see whether it still does it: a checkpoint
// without a network has no logits to compare.
#pragma once

#include <nlohmann/json.hpp>

#include "policies/learned/checkpoint.h"

namespace yard {

// Plays 256 jobs of `synthetic:mixed` on `mixed-9`, from nothing. What it came to: decisions,
// preemptions and JCTs, to the last bit the same wherever the same is decided.
nlohmann::ordered_json play_golden_course(const Checkpoint& checkpoint);

}  // namespace yard
