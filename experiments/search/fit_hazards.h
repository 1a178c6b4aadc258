// Fits hazards of run times by job size for the policy `gittins-fitted`, in time bins of a quarter
// octave. Run times are censored at the window's end, as if each job started at submission.
#pragma once

#include <string>
#include <vector>

#include "experiments/scenario/scenario.h"

namespace yard {

// Returns hazards (G job sizes, B bins); those of rare sizes are shrunk towards those of all jobs.
std::vector<double> fit_hazards(const Scenario& scenario);

// Returns the text of a YAML file of the policy `gittins-fitted` with these hazards.
std::string hazards_policy_yaml(const std::vector<double>& hazards, const Scenario& scenario);

}  // namespace yard
