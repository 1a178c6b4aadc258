#include "experiments/replay/load_scenario.h"

#include <cmath>
#include <utility>

namespace yard {
namespace {

constexpr double kTestShare = 0.8;  // where the test split of a recorded trace begins

bool recorded(const Trace& trace) { return !is_synthetic(trace.source); }

int64_t test_from_us(const Trace& trace) {
  const int64_t first_us = trace.jobs.front().submit_us;
  const int64_t span_us = trace.jobs.back().submit_us + 1 - first_us;
  return first_us + std::llround(kTestShare * static_cast<double>(span_us));
}

// Returns the end of a window by time. Takes a copy, since selecting changes the trace.
int64_t window_end_us(Trace trace, WindowOptions options) {
  options.after = ArrivalsAfterWindow::kNothing;
  return select_window(trace, options).to_us;
}

}  // namespace

Scenario make_scenario(TraceOnCluster source, WindowOptions options,
                       std::optional<double> congestion, double cost_scale,
                       const std::optional<ArrivalCalibration>& known) {
  Trace& trace = source.trace;
  const int64_t test_us = test_from_us(trace);
  if (options.after != ArrivalsAfterWindow::kTraceOnly && recorded(trace) && !options.to.empty() &&
      window_end_us(trace, options) <= test_us) {
    options.after = ArrivalsAfterWindow::kRepeat;
  }
  Window window = select_window(trace, options);
  const bool opens_test = recorded(trace) && window.to_us > test_us;
  const double load = source.variation.load;
  ArrivalCalibration found = known.value_or(ArrivalCalibration{});
  if (congestion && !known) found = calibrate_arrivals(source, window, cost_scale, *congestion);
  if (!known) found.factor /= load;
  if (congestion || found.factor != 1) scale_arrivals(trace, window, found.factor);
  Scenario scenario(std::move(trace), window, std::move(source.cluster), cost_scale, source.speeds);
  scenario.factor = found.factor;
  scenario.congestion = found.congestion;
  scenario.opens_test = opens_test;
  scenario.allow(source.variation.allows);
  scenario.inject_faults(source.faults);
  if (load != 1 && !known) scenario.congestion = congestion_of(scenario);
  return scenario;
}

Scenario load_scenario(const ScenarioOptions& options) {
  return make_scenario(load_trace_on_cluster(options), options.window, options.congestion,
                       options.cost_scale);
}

}  // namespace yard
