// Writes model.onnx, a checkpoint's network for programs without this library: for one decision,
//   rows (R, F), cluster (C), prior (R + 1)  ->  logits (R + 1), of the rows, then of doing nothing
// R is the number of rows. The model's inputs are features which are not standardised. An illegal
// action has a very low prior.
#pragma once

#include <string>

#include "policies/learned/checkpoint.h"

namespace yard {

// Returns the bytes of the file, or "" if the checkpoint has no network or one without a graph.
// Throws InputError if the weights do not fit the network.
std::string onnx_of(const Checkpoint& checkpoint);

}  // namespace yard
