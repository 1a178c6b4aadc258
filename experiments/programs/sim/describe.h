// What a trace carries, in numbers.
#pragma once

#include <nlohmann/json.hpp>

#include "env/trace/job.h"

namespace yard::sim {

// Returns counts, the span, quantiles of run times and of logged waits, GPU sizes, deadlines,
// limits and what was left out by reason; null or 0 for what the trace does not carry.
// `cluster_gpus`, where above 0, is what `load` refers to.
nlohmann::ordered_json describe_json(const Trace& trace, int cluster_gpus);

// Prints it one line a key.
void print_description(const nlohmann::ordered_json& description);

}  // namespace yard::sim
