// Whether what policies that know run times reach is a bound of a scenario. It is one where a job
// takes its run time wherever it runs and with any neighbours; elsewhere a policy that knows less,
// but chooses places, sizes or ends, can be the better one.
#pragma once

#include <string>

#include "experiments/scenario.h"

namespace yard {

// Returns what makes the times of jobs depend on more than their lengths, as "elastic jobs"; empty
// where nothing does. `rules`: published ones see so many whole GPUs of one speed.
std::string why_no_bound(const Scenario& scenario, const std::string& rules);

}  // namespace yard
