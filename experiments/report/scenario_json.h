// Describes a scenario's cluster and trace for the JSON documents which commands print.
#pragma once

#include <nlohmann/json.hpp>

#include "experiments/scenario/scenario.h"

namespace yard::sim {

nlohmann::ordered_json cluster_summary_json(const ClusterSpec& cluster);
nlohmann::ordered_json trace_json(const Scenario& scenario);

// Returns microseconds as a JSON number of seconds; an integer if the seconds have no fraction.
nlohmann::ordered_json seconds_json(WideUs us);

}  // namespace yard::sim
