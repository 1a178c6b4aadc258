// Measures and sets the congestion of a window: the mean wait of `greedy` (first-fit, rules
// `default`) divided by the mean run time, over the scored jobs. A trace without a known cluster
// size is brought to a target congestion by scaling the distances between its arrivals.
#pragma once

#include "env/base/core/error.h"
#include "experiments/scenario/scenario.h"

namespace yard {

// Thrown if no factor comes near the target congestion: even jobs that all arrive at once may fit.
class CongestionUnreachable : public InputError {
 public:
  using InputError::InputError;
};

constexpr double kMaxCongestion = 1000;  // largest target

struct Calibration {
  double factor = 1;      // total multiplier of distances between arrivals
  double congestion = 0;  // at that factor
};

// Returns the congestion of the scored jobs at their present arrival times, with the scenario's
// speeds and faults.
double congestion_of(const Scenario& scenario);

// Finds the factor of scale_arrivals() that gives `target`, to within 0.5 %. Congestion jumps
// between neighbouring factors, so up to 5 % is accepted. Requires: target > 0, the window is
// selected in source.trace. Throws CongestionUnreachable.
Calibration calibrate(const TraceOnCluster& source, const Window& window, double cost_scale,
                      double target);

}  // namespace yard
