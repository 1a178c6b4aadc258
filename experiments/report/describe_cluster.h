// Describes a cluster's nodes, GPU types, tiers and tenants as JSON. Unknown figures are null.
#pragma once

#include <nlohmann/json.hpp>

#include "env/cluster/spec.h"

namespace yard::sim {

nlohmann::ordered_json describe_cluster(const ClusterSpec& spec);

}  // namespace yard::sim
