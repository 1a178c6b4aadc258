// Makes the scenario of a run: loads trace and cluster, selects the window and scales the arrivals
// to a congestion.
//
//   Scenario scenario = load_scenario({.trace = "cluster02.csv.gz", .cluster = "16x8"});
//   Scenario replica = perturbed_replica_of(scenario, Rng(seed).split(0));
#pragma once

#include "experiments/replay/congestion.h"
#include "experiments/scenario/scenario.h"

namespace yard {

// Selects the window, scales arrivals to `congestion`, if given, and then by source.variation.load.
// `known`: the scaling to use instead of calibrate_arrivals(). After the window come the trace's
// next jobs, then copies of the window's jobs. If the window ends before the last fifth of a
// recorded trace, the copies follow directly: the last fifth is reserved for the final test. With
// ArrivalsAfterWindow::kTraceOnly no job is copied. Throws CongestionUnreachable, InputError.
Scenario make_scenario(TraceOnCluster source, WindowOptions window,
                       std::optional<double> congestion, double cost_scale,
                       const std::optional<ArrivalCalibration>& known = {});

Scenario load_scenario(const ScenarioOptions& options);

}  // namespace yard
