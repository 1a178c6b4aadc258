// Explains why a request does not fit an empty cluster: which resource it exceeds, and its limit.
#pragma once

#include <cstdint>

#include "env/cluster/spec.h"
#include "env/trace/core/job.h"
#include "env/trace/core/trace_reader.h"

namespace yard {

// Returns whether jobs of that tenant may use the node.
bool may_use_node(const Node& node, const std::string& tenant, const ClusterSpec& spec);

// Returns what is wrong with the GPU types of a request; an empty reason if nothing is.
// `types`: bit set of the types which the job may run on.
Unusable unfit_types_reason(const Job& job, const ClusterSpec& spec, uint64_t types);

// Returns why a job has no placement on the empty cluster. Requires: a placement failed.
Unusable no_placement_reason(const Job& job, const ClusterSpec& spec, uint64_t types);

}  // namespace yard
