// Notes for users on GPU types without known properties. A misspelt GPU type in a cluster's
// shorthand is no error, but a new GPU type.
#pragma once

#include <string>
#include <vector>

#include "experiments/scenario/scenario.h"

namespace yard {

std::vector<std::string> gpu_type_notes(const Scenario& scenario);

// Returns a note that --speeds has no effect, since no job has a model with known speeds. Returns
// "" if a job has such a model, or if policies see exact speeds.
std::string unused_speeds_note(const Scenario& scenario, SpeedInformation speeds);

// Returns lines for stderr: skipped rows, how the trace was read, gpu_type_notes(),
// unused_speeds_note().
std::vector<std::string> scenario_notes(const Scenario& scenario, SpeedInformation speeds);

}  // namespace yard
