// Reports of a cluster's use, from what its manager sends.
#pragma once

#include "serving/kubernetes/free_gpus.h"
#include "serving/kubernetes/objects.h"
#include "serving/snapshot/messages.h"

namespace yard::kubernetes {

// Reads a snapshot. A job counts as the pod whose UID or NAMESPACE/NAME is its id, and its array as
// the pod's group.
ClusterUse use_of(const pb::DecideRequest& snapshot);

// Reads a v1.List of nodes and pods, as `kubectl get nodes,pods -A -o json` prints it. Throws
// InputError.
ClusterUse use_of(const Json& list);

}  // namespace yard::kubernetes
