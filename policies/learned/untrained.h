// A checkpoint before its training: the agent and its settings without weights. Each network starts
// with a last layer of zeros, so an untrained network adds nothing to the prior.
#pragma once

#include "policies/learned/checkpoint.h"
#include "policies/learned/native_network.h"

namespace yard {

// The name of the network in an untrained checkpoint.
inline constexpr const char* kUntrainedNetwork = "untrained";

// Returns the untrained version of a checkpoint. A checkpoint without a network gets the default
// numbers. The digest covers agent and settings only: it does not depend on the training seed.
Checkpoint untrained_of(const Checkpoint& checkpoint);

// Returns a network that scores every action 0.
std::unique_ptr<NativeNetwork> untrained_network(const ObservationShape& shape);

}  // namespace yard
