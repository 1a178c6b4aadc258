// The envelope of a checkpoint's training, for checkpoints that were written without one.
#pragma once

#include "policies/learned/checkpoint.h"

namespace yard {

// Plays the training workloads that the checkpoint's provenance names, with its policy, and returns
// their envelope. The result is the same on each call. Requires: the current folder has the files
// of cells that the provenance names. Throws InputError if a workload is not found or has changed.
Envelope training_envelope(const Checkpoint& checkpoint);

}  // namespace yard
