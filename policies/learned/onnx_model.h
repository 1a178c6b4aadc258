// Writes model.onnx, a checkpoint's network for programs without this library. The model maps rows
// (R, F), cluster (C) and prior (R + 1) of a decision with R rows to logits (R + 1), the no-op
// last. The model standardises raw features. The caller gives illegal actions very low priors.
#pragma once

#include <string>

#include "policies/learned/checkpoint.h"

namespace yard {

// Returns the bytes of model.onnx, or "" if the checkpoint has no network that can be exported.
// Throws InputError if the weights do not fit the network.
std::string onnx_of(const Checkpoint& checkpoint);

}  // namespace yard
