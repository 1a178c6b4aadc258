// A trained dispatcher as a policy: observe, score, take the best action, until it wants nothing
// more.
#pragma once

#include <memory>

#include "policies/learned/checkpoint.h"
#include "policies/policy.h"

namespace yard {

// Throws InputError when the weights do not fit the network.
std::unique_ptr<Policy> make_pilot(const Checkpoint& checkpoint, const std::string& where);

// Thrown by decide() when the network's output is not finite.
class NonFinite : public std::runtime_error {
 public:
  NonFinite() : std::runtime_error("the network's output is not finite") {}
};

}  // namespace yard
