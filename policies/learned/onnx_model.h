// model.onnx of a checkpoint: the network and its normaliser for one decision, for programs that
// run networks without this library. No decision here uses this file.
//
//   rows (R, F), cluster (C), prior (R + 1)  ->  logits (R + 1), of the rows, then of doing nothing
// Features are as a task writes them, R is the number of rows. An illegal action has a very low
// prior.
#pragma once

#include <string>

#include "policies/learned/checkpoint.h"

namespace yard {

// Returns the bytes of the file, or "" if the checkpoint has no network or one without a graph.
// Throws InputError if the weights do not fit the network.
std::string onnx_of(const Checkpoint& checkpoint);

}  // namespace yard
