// Says whether an oracle bounds a scenario: no policy does better if run times depend neither on
// the GPUs nor on co-located jobs. Otherwise a policy without an oracle's information may do better
// by its choice of placement, job size or early ends.
#pragma once

#include "experiments/scenario/scenario.h"

namespace yard {

// Returns why an oracle is no bound, as "elastic jobs". Returns "" if an oracle is a bound.
// Published rule sets always return "", since all their GPUs have one speed.
std::string why_oracle_is_no_bound(const Scenario& scenario, const std::string& rules);

}  // namespace yard
