// What nothing is known of in a cluster's GPU types, for a note to the user: a name in shorthand
// says no speed, and a misspelt one is a type like any other.
//
//   for (const std::string& note : type_notes(scenario)) ...
#pragma once

#include <string>
#include <vector>

#include "experiments/scenario.h"

namespace yard {

std::vector<std::string> type_notes(const Scenario& scenario);

// What it means that policies know speeds less well than the tables where there are no tables:
// nothing. Empty where there are some, or where policies are given them.
std::string speeds_note(const Scenario& scenario, SpeedLevel speeds);

// Lines for stderr: rows that were left out, how the trace was read, and both of the above.
std::vector<std::string> scenario_notes(const Scenario& scenario, SpeedLevel speeds);

}  // namespace yard
