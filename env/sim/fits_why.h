// Why a request finds no place on an empty cluster: what it asks too much for, and how much there
// is.
#pragma once

#include <cstdint>

#include "env/cluster/spec.h"
#include "env/trace/job.h"
#include "env/trace/reader.h"

namespace yard {

// Whether a job of that tenant may use the node.
bool open_to(const Node& node, const std::string& tenant, const ClusterSpec& spec);

// What is wrong with the types that a job asks for; an empty reason where nothing is. `types`:
// those that it may run on, as bits.
Unusable types_unfit(const Job& job, const ClusterSpec& spec, uint64_t types);

// Why a job got no place on the empty cluster. Requires: a placement was tried and found none.
Unusable why_no_place(const Job& job, const ClusterSpec& spec, uint64_t types);

}  // namespace yard
