// Makes the scenario of a run: loads trace and cluster, selects the window and scales the arrivals
// to a congestion.
//
//   Scenario scenario = load_scenario({.trace = "cluster02.csv.gz", .cluster = "16x8"});
//   Scenario replica = replica_of(scenario, Rng(seed).split(0));
#pragma once

#include "experiments/replay/congestion.h"
#include "experiments/scenario/scenario.h"

namespace yard {

// Selects the window, scales arrivals to `congestion`, if given, and then to source.variation's
// load. `known`: the scaling to use instead of calibrate(). The trace's next jobs follow the
// window, then copies of the window's jobs. If the window ends before the last fifth of a recorded
// trace, the copies follow at once: the last fifth is reserved for the final test. With
// ArrivalsAfterWindow::kTraceOnly nothing is copied. Throws CongestionUnreachable, InputError.
Scenario make_scenario(TraceOnCluster source, WindowOptions window,
                       std::optional<double> congestion, double cost_scale,
                       const std::optional<Calibration>& known = {});

Scenario load_scenario(const ScenarioOptions& options);

}  // namespace yard
