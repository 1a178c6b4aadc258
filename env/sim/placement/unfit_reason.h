// Explains why a request does not fit an empty cluster: which resource it exceeds, and its limit.
#pragma once

#include <cstdint>

#include "env/cluster/spec.h"
#include "env/trace/core/job.h"
#include "env/trace/core/trace_reader.h"

namespace yard {

// Returns whether jobs of `tenant` may use the node.
bool may_use_node(const Node& node, const std::string& tenant, const ClusterSpec& spec);

// Returns why the job's GPU types are unusable, or an empty reason if they are usable. `types` is
// the bit set of the types which the job may run on.
UnusableReason unfit_types_reason(const Job& job, const ClusterSpec& spec, uint64_t types);

// Returns why the job has no placement on the empty cluster. Requires: placing the job failed.
UnusableReason no_placement_reason(const Job& job, const ClusterSpec& spec, uint64_t types);

}  // namespace yard
