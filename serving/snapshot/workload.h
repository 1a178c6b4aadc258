// The figures of a snapshot that the envelope of an agent bounds.
#pragma once

#include "policies/learned/envelope.h"
#include "serving/snapshot/snapshot.h"

namespace yard {

// Returns the figures without records that were set aside; they equal those of a View of the same
// cluster.
WorkloadFigures workload_of(const Snapshot& snapshot);

}  // namespace yard
