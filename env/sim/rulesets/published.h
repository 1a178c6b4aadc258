// What rule sets of published simulators share: none of our costs apply, and the number of GPUs is
// all that a job asks for.
#pragma once

#include <string>

#include "env/sim/rulesets/rule_set.h"

namespace yard {

SimModel without_costs(SimModel fixed);

// Throws InputError for what the rule set does not support: jobs without GPUs, which would divide
// by zero or wait for ever, and, unless Info::by_types, GPUs with a speed other than 1.
void check_published(const Replay& replay, const std::string& rules);

// Removes a running or waiting job for good.
void remove_job(const SimModel& fixed, SimState& state, int32_t slot);

}  // namespace yard
