// What rule sets of published simulators have in common, whichever stage they play on: they charge
// nothing of ours, and know of a job how many GPUs it takes.
#pragma once

#include <string>

#include "env/sim/pacing.h"

namespace yard {

Fixed without_costs(Fixed fixed);

// Throws InputError for what the registered `rules` do not know: jobs without GPUs, by whose number
// they divide or wait for ever, and, unless they go by types, GPUs of unlike speeds.
void check_published(const Replay& replay, const std::string& rules);

// A running or waiting job goes away for good.
void leave_for_good(const Fixed& fixed, ClusterState& state, int32_t slot);

}  // namespace yard
