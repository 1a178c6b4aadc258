// Tenants for a generated workload that has none, on a cluster each node of which belongs to a
// tenant that does not lend it: jobs of no tenant could run nowhere there. A job's tenant is drawn
// by the GPUs that tenants own, of those that own enough for it.
#pragma once

#include "env/base/rng.h"
#include "env/cluster/spec.h"
#include "env/trace/job.h"

namespace yard {

// Returns whether jobs of no tenant find no node on the cluster.
bool needs_tenants(const ClusterSpec& cluster);

// Leaves a trace as it is in which any job has a tenant.
void draw_tenants(Trace& trace, const ClusterSpec& cluster, const Rng& rng);

}  // namespace yard
