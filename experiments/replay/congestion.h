// Measures and sets the congestion of a window: the mean wait under the policy `greedy` (first-fit,
// rules `default`) divided by the mean run time, over the scored jobs. A trace reaches a target
// congestion by scaling the times between arrivals.
#pragma once

#include "env/base/core/error.h"
#include "experiments/scenario/scenario.h"

namespace yard {

// Thrown if no scaling of arrivals gives the target, as when even jobs that arrive at once all fit.
class CongestionUnreachable : public InputError {
 public:
  using InputError::InputError;
};

constexpr double kMaxCongestion = 1000;  // largest target congestion

struct ArrivalCalibration {
  double factor = 1;      // factor on the times between arrivals
  double congestion = 0;  // measured congestion at `factor`
};

// Returns the congestion of a scenario's scored jobs, without scaling arrivals, with the scenario's
// speeds and faults.
double congestion_of(const Scenario& scenario);

// Finds the factor of scale_arrivals() that gives the congestion `target` to within 0.5 %, or to
// within 5 % where congestion jumps between neighbouring factors. Requires: target > 0, and
// `window` is selected in source.trace. Throws CongestionUnreachable.
ArrivalCalibration calibrate_arrivals(const TraceOnCluster& source, const Window& window,
                                      double cost_scale, double target);

}  // namespace yard
