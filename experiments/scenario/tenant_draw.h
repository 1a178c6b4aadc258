// Draws tenants for a generated workload without any. On a cluster whose nodes all belong to
// tenants that do not lend, jobs without a tenant could run nowhere. A tenant's chance is its share
// of GPUs among the tenants which own enough for the job.
#pragma once

#include "env/base/core/rng.h"
#include "env/cluster/spec.h"
#include "env/trace/core/job.h"

namespace yard {

// Returns whether no node of the cluster accepts jobs without a tenant.
bool needs_tenants(const ClusterSpec& cluster);

// Sets the tenant of every job. Does nothing if any job has one, or if !needs_tenants(cluster).
void draw_tenants(Trace& trace, const ClusterSpec& cluster, const Rng& rng);

}  // namespace yard
