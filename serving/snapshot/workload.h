// The figures of a snapshot that the envelope of an agent bounds.
#pragma once

#include "policies/learned/envelope.h"
#include "serving/snapshot/snapshot.h"

namespace yard {

// Returns the workload without records that were set aside: the same as of a View on the cluster.
WorkloadFigures workload_of(const Snapshot& snapshot);

}  // namespace yard
