// Plays a policy as a server would. Only programs that contain the server's code can do so.
#pragma once

#include <memory>

#include "env/sim/view/decider.h"
#include "experiments/scenario/scenario.h"
#include "policies/policy.h"

namespace yard {

// Throws InputError for a scenario with something that snapshots lack.
// Requires of the result: the arguments outlive it.
using MakeServedDecider = std::unique_ptr<Decider> (*)(const Policy& policy,
                                                       const Scenario& scenario);

// Sets the maker of served deciders. Call it once, before any replay.
void set_served_decider(MakeServedDecider make);
// Returns the maker of served deciders; null: this program lacks the server's code.
MakeServedDecider served_decider();

}  // namespace yard
