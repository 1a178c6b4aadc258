// What a cluster is made of, as one JSON document; null where nobody said a figure.
#pragma once

#include <nlohmann/json.hpp>

#include "env/cluster/spec.h"

namespace yard::sim {

nlohmann::ordered_json describe_cluster(const ClusterSpec& spec);

}  // namespace yard::sim
