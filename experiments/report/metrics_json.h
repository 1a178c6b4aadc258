// Metrics of a run: the JSON of `simulate`, and the additional text tables of `--metrics all`.
// docs/reference/metrics.md defines each figure. A figure without data is null, not 0.
#pragma once

#include <nlohmann/json.hpp>

#include "env/sim/metrics/meter.h"
#include "experiments/replay/replay.h"
#include "experiments/replay/waits.h"
#include "experiments/scenario/scenario.h"

namespace yard::sim {

// Returns a run's metrics. `metered`, `waits`: null if GPU use and waits were not recorded.
nlohmann::ordered_json run_json(const Scenario& scenario, const Run& run, const GpuUsage* metered,
                                const Waits* waits);

// Prints the tables of `--metrics all`. `runs`: results of run_json() with `metered` and `waits`.
void print_all_metrics(const nlohmann::ordered_json& runs);

}  // namespace yard::sim
