// What a checkpoint was before it was trained: the same agent with the same settings, which draws
// in the same way. Every network begins with a last layer of zeros, so that untrained it adds
// nothing to the prior: no weights are needed to know what it would do.
#pragma once

#include "policies/learned/checkpoint.h"
#include "policies/learned/native_network.h"

namespace yard {

// Stands where a checkpoint names its network.
inline constexpr const char* kUntrainedNetwork = "untrained";

// Returns the untrained self of a checkpoint; of a searched rule, which has no network, the rule
// with the numbers that it declares. Its digest names agent and settings alone, so that the seeds
// of one configuration have the same one.
Checkpoint untrained_of(const Checkpoint& checkpoint);

// Scores everything 0.
std::unique_ptr<NativeNetwork> untrained_network(const TaskShape& shape);

}  // namespace yard
