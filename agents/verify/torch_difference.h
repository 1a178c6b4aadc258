// Checks the outputs of a checkpoint's network in LibTorch against the recorded outputs.
#pragma once

#include "policies/learned/checkpoint.h"

namespace yard {

// Returns the largest difference between the recorded outputs of the golden states and the outputs
// which LibTorch computes from the checkpoint's weights.
double torch_difference_from_golden(const Checkpoint& checkpoint);

}  // namespace yard
