// Measures the interval coverage of the run-time predictor (env/predict/survival.h). While
// a policy runs, the predicted intervals of time left are recorded and compared with the truth once
// jobs end. Predictions are rounded to a minute. If many jobs end at one moment, as at a limit, the
// end counts as covered by the share of their predicted mass in the interval (Czado, Gneiting and
// Held, "Predictive model assessment for count data", Biometrics 2009). Jobs that never end do not
// count.
#pragma once

#include <array>

#include "experiments/replay/replay.h"

namespace yard {

constexpr std::array<double, 3> kNominalCoverages = {0.5, 0.8, 0.9};
constexpr double kResolutionS = 60;

struct PredictionCoverageGroup {
  int64_t predictions = 0;
  std::array<double, 3> within{};  // number of covered predictions, by nominal level
  // Median of |log2(predicted median / truth)|. Times below a second count as one second.
  double median_error_log2 = 0;

  double share(size_t level) const { return within[level] / static_cast<double>(predictions); }
};

struct PredictionCoverage {
  PredictionCoverageGroup all, waiting, begun;  // waiting: jobs that have not run yet
};

// Samples the scored jobs every `every_s` seconds of simulated time. Throws as run_prepared() does.
// Requires: a policy under the rules `default`, not a rule set's own scheduler.
PredictionCoverage measure_interval_coverage(const Scenario& scenario, PreparedPolicy prepared,
                                             const RunOptions& options, double every_s);

}  // namespace yard
