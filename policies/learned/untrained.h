// A checkpoint before its training: the agent and its settings without weights. The last layer of a
// new network is zero, so an untrained network adds nothing to the prior.
#pragma once

#include "policies/learned/checkpoint.h"
#include "policies/learned/native_network.h"

namespace yard {

// The name of the network in an untrained checkpoint.
inline constexpr const char* kUntrainedNetwork = "untrained";

// Returns the untrained version of a checkpoint. If the checkpoint has no network, the agent's
// settings return to their defaults, except those that a site may switch off. The digest covers
// only agent and settings, not the training seed.
Checkpoint untrained_of(const Checkpoint& checkpoint);

// Returns a network that scores every action 0.
std::unique_ptr<NativeNetwork> untrained_network(const ObservationShape& shape);

}  // namespace yard
