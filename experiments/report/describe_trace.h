// Summary figures of a trace, for `trace describe`.
#pragma once

#include <nlohmann/json.hpp>

#include "env/trace/core/job.h"

namespace yard::sim {

// Returns counts, the time span, quantiles of run times and logged waits, GPU sizes, deadlines,
// limits, and skipped rows by reason. Values which the trace lacks are null or 0. `cluster_gpus`:
// GPUs which `load` is relative to; 0: the trace's own machine. Requires: at least one job.
nlohmann::ordered_json describe_json(const Trace& trace, int cluster_gpus);

// Prints the description, one line per key.
void print_description(const nlohmann::ordered_json& description);

}  // namespace yard::sim
