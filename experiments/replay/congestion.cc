#include "experiments/replay/congestion.h"

#include <cmath>
#include <utility>

#include "env/base/os/interrupt.h"
#include "env/base/text/text.h"
#include "experiments/replay/replay.h"

namespace yard {
namespace {

constexpr double kTolerance = 0.005;     // stop the search within this error
constexpr double kAcceptedError = 0.05;  // largest accepted error
constexpr double kMaxStretch = 1e6;      // of arrival distances; the least is its inverse
constexpr int kMaxHalvings = 40;
constexpr int kMaxNearbySteps = 50;
constexpr double kNearbyStep = 0.004;

double relative_error(double congestion, double target) {
  return std::abs(congestion / target - 1);
}

}  // namespace

double congestion_of(const Scenario& scenario) {
  const JctSummary all = run_policy(scenario, "greedy", {}).summary.all;
  return all.mean_run_s > 0 ? all.mean_wait_s / all.mean_run_s : 0;
}

ArrivalCalibration calibrate_arrivals(const TraceOnCluster& source, const Window& window,
                                      double cost_scale, double target) {
  const auto measure = [&](double factor) {
    throw_if_interrupted();
    Trace scaled = source.trace;
    Window moved = window;
    scale_arrivals(scaled, moved, factor);
    Scenario scenario(std::move(scaled), moved, source.cluster, cost_scale, source.speeds);
    scenario.inject_faults(source.faults);
    return ArrivalCalibration{factor, congestion_of(scenario)};
  };
  ArrivalCalibration best = measure(1);
  const auto better = [&](const ArrivalCalibration& found) {
    if (relative_error(found.congestion, target) < relative_error(best.congestion, target))
      best = found;
  };
  // Waits grow as arrivals move together: find two factors with the target between them.
  const double step = best.congestion < target ? 0.5 : 2;
  double inside = 1, outside = 1;
  for (;;) {
    inside = outside;
    outside *= step;
    if (outside > kMaxStretch || outside < 1 / kMaxStretch) break;
    const ArrivalCalibration found = measure(outside);
    better(found);
    if ((found.congestion < target) != (step < 1)) break;
  }
  double low = std::min(inside, outside), high = std::max(inside, outside);
  for (int i = 0; i < kMaxHalvings && relative_error(best.congestion, target) > kTolerance; ++i) {
    const ArrivalCalibration found = measure(std::sqrt(low * high));
    better(found);
    (found.congestion < target ? high : low) = found.factor;
  }
  // If congestion jumps over the target, a factor nearby may still meet it.
  const double jump = best.factor;
  for (int i = 1; i <= kMaxNearbySteps && relative_error(best.congestion, target) > kAcceptedError;
       ++i) {
    better(measure(jump * (1 + kNearbyStep * i)));
    better(measure(jump * (1 - kNearbyStep * i)));
  }
  if (relative_error(best.congestion, target) > kAcceptedError) {
    throw CongestionUnreachable(
        "--congestion",
        "a congestion that these jobs can reach on this cluster (nearest: " +
            shortest_text(std::round(best.congestion * 100) / 100) + ")",
        shortest_text(target));
  }
  return best;
}

}  // namespace yard
