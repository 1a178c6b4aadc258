// How crowded a window is, measured by what a plain scheduler makes of it: the mean wait of
// `greedy` (first-fit, rules `default`) over the mean run time of the scored jobs. A log that
// does not tell the size of its cluster is brought to a stated congestion by squeezing or
// stretching its arrivals.
#pragma once

#include "env/base/error.h"
#include "experiments/scenario.h"

namespace yard {

// No factor comes near what is asked for: jobs that all come at once may still fit.
class NotSoCrowded : public InputError {
 public:
  using InputError::InputError;
};

constexpr double kMostCongestion = 1000;  // that may be asked for

// Returns the congestion of the scenario's scored jobs as they arrive, at the speeds and with the
// faults that it has.
double congestion_of(const Scenario& scenario);

// Finds the factor of scale_arrivals() that gives `target`, to within 0.5 % where the measure,
// which jumps a little from one factor to the next, allows it. Requires: target > 0, and the window
// selected in source.trace. Throws NotSoCrowded.
Calibration calibrate(const Source& source, const Window& window, double cost_scale, double target);

}  // namespace yard
