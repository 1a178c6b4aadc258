// How honest the predictor of run times is (env/predict/survival.h): while a policy plays, every
// job in the system is looked at now and then; afterwards it is known how long each had left, and
// how often that lay within the intervals that were told. Times are told to a minute: where many
// jobs end at one moment, as at a limit, the end counts as within by the part of them that is told
// to lie in the interval. A job that never ends is not counted.
#pragma once

#include <array>
#include <cstdint>

#include "experiments/replay.h"

namespace yard {

constexpr std::array<double, 3> kNominal = {0.5, 0.8, 0.9};
constexpr double kToldToS = 60;

struct CoverageGroup {
  int64_t asked = 0;
  std::array<double, 3> within{};  // by nominal level
  // |log2(told median / truth)|, the middle of all asked. Times below a second count as one.
  double median_error_log2 = 0;

  double share(size_t level) const { return within[level] / static_cast<double>(asked); }
};

struct Coverage {
  CoverageGroup all, waiting, begun;  // waiting: those that have not run yet
};

// Looks at scored jobs every `every_s` seconds of simulated time. Throws as run_prepared() does.
// Requires: the contestant is a policy of the rules `default`.
Coverage coverage(const Scenario& scenario, Contestant contestant, const RunOptions& options,
                  double every_s);

}  // namespace yard
