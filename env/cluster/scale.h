// Scales a cluster to more or fewer nodes, to test a policy at a size it was not made for.
#pragma once

#include "env/cluster/spec.h"

namespace yard {

// Multiplies the number of nodes in each run of equal nodes by `scale`, rounded, at least one. The
// result's text records the scale. Throws InputError if the cluster has tenants, whose quotas hold
// for its own size only, or if there would be too many nodes.
ClusterSpec scaled(ClusterSpec cluster, double scale);

}  // namespace yard
