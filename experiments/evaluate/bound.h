// Says whether oracles bound a scenario. They do if run times depend neither on the GPUs nor on
// co-located jobs. Elsewhere a policy with less information may do better through its choice of
// placement, size or early ends.
#pragma once

#include <string>

#include "experiments/scenario/scenario.h"

namespace yard {

// Returns what makes job times depend on more than their lengths, as "elastic jobs". Returns "" if
// nothing does, and under published rule sets, in which all GPUs have one speed.
std::string why_no_bound(const Scenario& scenario, const std::string& rules);

}  // namespace yard
