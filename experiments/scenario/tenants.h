// Draws tenants for jobs of a generated workload, and reports tenants that the cluster lacks.
#pragma once

#include <string>

#include "env/base/core/rng.h"
#include "env/cluster/spec.h"
#include "env/trace/core/job.h"

namespace yard {

// Draws a tenant for every job if no job has a tenant and every node accepts only jobs of tenants,
// so that jobs without a tenant could not run. The chance of a tenant is its share of the GPUs of
// all tenants which own enough GPUs for the job.
void draw_tenants_if_needed(Trace& trace, const ClusterSpec& cluster, const Rng& rng);

// Returns a note, without a full stop, on jobs whose tenant the cluster lacks, to which no quota or
// limit applies. Returns "" if the cluster has no tenants, or has the tenants of all jobs.
std::string unknown_tenants_note(const Trace& trace, const ClusterSpec& cluster);

}  // namespace yard
