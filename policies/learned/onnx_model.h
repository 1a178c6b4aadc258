// model.onnx of a checkpoint: its network with the normaliser, of one decision, for whoever runs
// networks without this library. A file of its own, from which nothing here decides.
//
//   rows (R, F), cluster (C), prior (R + 1)  ->  logits (R + 1), those of the rows, then of nothing
// Features as a task writes them, R as many as there are; an action that is not legal is one whose
// prior is very low.
#pragma once

#include <string>

#include "policies/learned/checkpoint.h"

namespace yard {

// Returns the bytes of the file, "" where the checkpoint has no network, or a network that draws no
// graph. Throws InputError when the weights are not the network's.
std::string onnx_of(const Checkpoint& checkpoint);

}  // namespace yard
