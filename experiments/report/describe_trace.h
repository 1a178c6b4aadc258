// Summary figures of a trace, for the command `trace describe`.
#pragma once

#include <nlohmann/json.hpp>

#include "env/trace/core/job.h"

namespace yard::sim {

// Returns counts, the time span, quantiles of run times and logged waits, GPU sizes, deadlines,
// limits, and skipped rows by reason. Values not in the trace are null or 0. `cluster_gpus`: GPUs
// by which `load` is computed; 0: GPUs of the traced machine. Requires: at least one job.
nlohmann::ordered_json describe_json(const Trace& trace, int cluster_gpus);

// Prints the result of describe_json(), one line per key.
void print_description(const nlohmann::ordered_json& description);

}  // namespace yard::sim
