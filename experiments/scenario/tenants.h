// Tenants of jobs: drawn for a generated workload, and a note on tenants that the cluster lacks.
#pragma once

#include <string>

#include "env/base/core/rng.h"
#include "env/cluster/spec.h"
#include "env/trace/core/job.h"

namespace yard {

// Sets the tenant of every job. Does nothing if any job has a tenant, or if some node accepts jobs
// without a tenant. Jobs without a tenant could run nowhere if all nodes had owners. A tenant's
// chance is its share of GPUs among the tenants which own enough for the job.
void draw_tenants(Trace& trace, const ClusterSpec& cluster, const Rng& rng);

// Returns a note on jobs whose tenant the cluster lacks, without a full stop. No quota or limit
// applies to these jobs. Empty if the cluster has no tenants, or all named ones.
std::string unknown_tenants_note(const Trace& trace, const ClusterSpec& cluster);

}  // namespace yard
