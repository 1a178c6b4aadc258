// Measures how often the intervals of the run-time predictor (env/predict/survival.h) cover the
// truth. While a policy runs, each job's predicted interval of time left is recorded and compared
// with the true time when the job ends. An end counts as covered by the share of the mass predicted
// within 60 s of it that lies in the interval, since many jobs end at one moment, as at a time
// limit (Czado, Gneiting and Held, "Predictive model assessment for count data", Biometrics 2009).
// Jobs that never end are left out.
#pragma once

#include <array>

#include "experiments/replay/replay.h"

namespace yard {

constexpr std::array<double, 3> kNominalCoverages = {0.5, 0.8, 0.9};
constexpr double kResolutionS = 60;

struct PredictionCoverageGroup {
  int64_t predictions = 0;
  std::array<double, 3> within{};  // number of covered predictions, by nominal coverage
  // Median of |log2(predicted median / true time left)|; times below a second count as 1 s.
  double median_error_log2 = 0;

  double share(size_t level) const { return within[level] / static_cast<double>(predictions); }
};

struct PredictionCoverage {
  PredictionCoverageGroup all, waiting, begun;  // `begun`: jobs that have run
};

// Runs a policy and samples predictions for scored jobs every `every_s` simulated seconds. Throws
// the errors of run_prepared(). Requires: a policy prepared under the rules `default`.
PredictionCoverage measure_interval_coverage(const Scenario& scenario, PreparedPolicy prepared,
                                             const RunOptions& options, double every_s);

}  // namespace yard
