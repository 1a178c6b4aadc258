// Metrics of a run: the JSON of `simulate`, and the additional text tables of `--metrics all`.
// docs/metrics.md defines each figure. A figure whose data are missing is null, never 0.
#pragma once

#include <nlohmann/json.hpp>

#include "env/sim/meter.h"
#include "experiments/replay.h"
#include "experiments/scenario.h"
#include "experiments/waits.h"

namespace yard::sim {

// `metered`, `waits`: null if the run was not metered.
nlohmann::ordered_json run_json(const Scenario& scenario, const Run& run, const GpuUsage* metered,
                                const Waits* waits);

// Prints the additional tables. `runs`: from run_json(), with metering.
void print_all_metrics(const nlohmann::ordered_json& runs);

}  // namespace yard::sim
