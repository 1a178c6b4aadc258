// Builds model profiles from the cluster file (`models`, `speed_of_model`), so that placement and
// GPU type affect throughput without a file of measurements.
#pragma once

#include <cstdint>

#include "env/cluster/spec.h"
#include "env/trace/profiles/profile.h"

namespace yard {

// Adds a profile to `out` for each model of the cluster, for jobs of up to `max_gpus` GPUs.
//
//   throughput per GPU = speed_of_model on the type        consolidated
//                        x spread                          on more nodes
//   share of throughput left when sharing a GPU = 1 / (1 + suffers x the other's presses)
//
// Throughput is proportional to the number of GPUs. A model with gradient and step sizes gets only
// the step on one GPU, because the speed table adds the all-reduce on the cluster's links.
void add_profiles_from_cluster_spec(const ClusterSpec& cluster, int32_t max_gpus, Profiles& out);

}  // namespace yard
