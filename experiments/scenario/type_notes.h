// Notes for users on GPU types without known properties. A misspelt name in shorthand is accepted
// as another GPU type.
#pragma once

#include <string>
#include <vector>

#include "experiments/scenario/scenario.h"

namespace yard {

std::vector<std::string> gpu_type_notes(const Scenario& scenario);

// Returns a note that --speeds has no effect because no job has a model with known speeds. Empty if
// some do, or if policies see the true speeds.
std::string speeds_note(const Scenario& scenario, SpeedInformation speeds);

// Returns lines for stderr: skipped rows, how the trace was read, and the notes above.
std::vector<std::string> scenario_notes(const Scenario& scenario, SpeedInformation speeds);

}  // namespace yard
