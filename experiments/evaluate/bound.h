// Says whether the mean JCT of an oracle policy bounds that of all policies in a scenario. It does
// if run times depend neither on GPUs nor on co-located jobs. A non-oracle policy can beat an
// oracle by a better placement or job size, or by ending jobs early.
#pragma once

#include "experiments/scenario/scenario.h"

namespace yard {

// Returns why an oracle is no bound, such as "elastic jobs"; "" if an oracle is a bound. Returns ""
// for every published rule set, since all GPUs have one speed under published rules.
std::string why_oracle_is_no_bound(const Scenario& scenario, const std::string& rules);

}  // namespace yard
