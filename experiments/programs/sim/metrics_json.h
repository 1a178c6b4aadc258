// What became of a run as the JSON that `simulate` prints, and as tables of more than its first one
// (`--metrics all`). docs/metrics.md says what each figure is; where the data for one are missing
// it is null, never 0.
#pragma once

#include <nlohmann/json.hpp>

#include "env/sim/meter.h"
#include "experiments/replay.h"
#include "experiments/scenario.h"
#include "experiments/waits.h"

namespace yard::sim {

// `used`, `waits`: null where nobody looked on.
nlohmann::ordered_json run_json(const Scenario& scenario, const Run& run, const Metered* used,
                                const Waits* waits);

// `runs`: as run_json() made them, metered.
void print_more(const nlohmann::ordered_json& runs);

}  // namespace yard::sim
