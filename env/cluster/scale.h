// The same kind of cluster with more or fewer nodes: what a policy that was made for one size makes
// of another.
#pragma once

#include "env/cluster/spec.h"

namespace yard {

// Returns the cluster with `scale` times as many nodes of each run of alike ones, rounded, at least
// one. Its text says so. Throws InputError for a cluster with tenants, whose quotas are promises
// for its own size, or with more nodes than there may be.
ClusterSpec scaled(ClusterSpec cluster, double scale);

}  // namespace yard
