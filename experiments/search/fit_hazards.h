// Fits hazards of run times by job size for the policy `gittins-fitted`, in time bins of a quarter
// octave. Run times are censored at the end of the window, as if jobs started at submission.
#pragma once

#include <string>
#include <vector>

#include "experiments/scenario/scenario.h"

namespace yard {

// Returns (G, B) from the scored jobs. Sizes with few jobs are shrunk towards all jobs.
std::vector<double> fit_hazards(const Scenario& scenario);

// Returns the policy's YAML file.
std::string fitted_yaml(const std::vector<double>& hazards, const Scenario& scenario);

}  // namespace yard
