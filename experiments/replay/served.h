// Runs a policy in a simulation as the policy server would, in programs linked with the server.
#pragma once

#include <memory>

#include "env/sim/view/decider.h"
#include "experiments/scenario/scenario.h"
#include "policies/policy.h"

namespace yard {

// Makes a decider. Throws InputError if the scenario has data that snapshots cannot represent.
// Requires: `policy` and `scenario` outlive the decider.
using MakeServedDecider = std::unique_ptr<Decider> (*)(const Policy& policy,
                                                       const Scenario& scenario);

// Sets the function by which replays make served deciders. Call it once, before any replay.
void set_served_decider_maker(MakeServedDecider make);
// Returns the function given to set_served_decider_maker(); null if the program lacks the server's
// code.
MakeServedDecider served_decider_maker();

}  // namespace yard
