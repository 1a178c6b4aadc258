// What a cluster's own file says of models (`models`, `speed_of_model`), in the form in which
// measurements come: so that place and type can matter without any file of measurements.
#pragma once

#include <cstdint>

#include "env/cluster/spec.h"
#include "env/trace/profile.h"

namespace yard {

// Adds a profile for each model of the cluster, for jobs of up to `max_gpus`.
//
//   speed = speed_of_model on the type                     on as few nodes as hold it
//           x spread                                       on more
//   of the speed beside another on one GPU 1 / (1 + suffers x the other's presses) is left
//
// Twice the GPUs do twice the work. Of a model that tells gradients and steps only the step on one
// GPU is entered: the table adds the all-reduce on the cluster's links.
void add_told_models(const ClusterSpec& cluster, int32_t max_gpus, Profiles& out);

}  // namespace yard
