// A checkpoint's network in LibTorch against the outputs that were recorded with it.
#pragma once

#include "policies/learned/checkpoint.h"

namespace yard {

// Returns the largest difference between the outputs of the checkpoint's golden states and what
// LibTorch computes for them from the same weights.
double torch_difference(const Checkpoint& checkpoint);

}  // namespace yard
