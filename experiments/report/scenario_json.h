// Describes a scenario's cluster and trace in the JSON documents of commands.
#pragma once

#include <nlohmann/json.hpp>

#include "experiments/scenario/scenario.h"

namespace yard::sim {

nlohmann::ordered_json cluster_json(const ClusterSpec& cluster);
nlohmann::ordered_json trace_json(const Scenario& scenario);

// Microseconds as a JSON number of seconds; an integer if there is no fraction.
nlohmann::ordered_json seconds_json(WideUs us);

}  // namespace yard::sim
