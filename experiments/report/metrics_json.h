// Metrics of a run: the JSON of `simulate`, and the additional text tables of `--metrics all`.
// docs/reference/metrics.md defines each figure. A figure whose data are missing is null, never 0.
#pragma once

#include <nlohmann/json.hpp>

#include "env/sim/metrics/meter.h"
#include "experiments/replay/replay.h"
#include "experiments/replay/waits.h"
#include "experiments/scenario/scenario.h"

namespace yard::sim {

// `metered`, `waits`: null if the run was not metered.
nlohmann::ordered_json run_json(const Scenario& scenario, const Run& run, const GpuUsage* metered,
                                const Waits* waits);

// Prints the additional tables. `runs`: from run_json(), with metering.
void print_all_metrics(const nlohmann::ordered_json& runs);

}  // namespace yard::sim
