// A checkpoint before its training: the same agent with the same settings, which samples in the
// same way. Each network starts with a last layer of zeros, so that untrained it adds nothing to
// the prior. Its decisions are therefore known without any weights.
#pragma once

#include "policies/learned/checkpoint.h"
#include "policies/learned/native_network.h"

namespace yard {

// The name of the network in an untrained checkpoint.
inline constexpr const char* kUntrainedNetwork = "untrained";

// Returns the untrained version of a checkpoint. A searched rule, which has no network, gets its
// default numbers. The digest covers agent and settings only, so that all seeds of one
// configuration share it.
Checkpoint untrained_of(const Checkpoint& checkpoint);

// Returns a network that scores every action 0.
std::unique_ptr<NativeNetwork> untrained_network(const ObservationShape& shape);

}  // namespace yard
