// Fits the distribution of run times, by size, for the policy `gittins-fitted`: how many jobs came
// as far as a quarter octave of time, and how many ended in it. Who would still have run at the end
// of the window, had it begun at once, counts up to there: what comes later is not known yet.
#pragma once

#include <string>
#include <vector>

#include "experiments/scenario.h"

namespace yard {

// (G, B) from the scored jobs. Sizes of which little is seen lean on all.
std::vector<double> fit_hazards(const Scenario& scenario);

// A policy's YAML file.
std::string fitted_yaml(const std::vector<double>& hazards, const Scenario& scenario);

}  // namespace yard
