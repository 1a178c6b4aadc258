#include "policies/learned/learned_agent.h"

#include <algorithm>

#include "env/base/error.h"
#include "env/base/json_flaw.h"

namespace yard {

std::unique_ptr<Policy> policy_of(const Checkpoint& checkpoint, const std::string& where,
                                  const Settings& settings) {
  try {
    return LearnedRegistry::make(checkpoint.agent, {})->policy(checkpoint, where, settings);
  } catch (const nlohmann::json::exception& error) {
    throw InputError(where, "a task of the agent '" + checkpoint.agent + "'", json_flaw(error));
  }
}

std::unique_ptr<NativeNetwork> network_of(const Checkpoint& checkpoint, const std::string& where) {
  const std::vector<std::string> known = NativeNetworkRegistry::names();
  if (std::ranges::find(known, checkpoint.network) == known.end()) {
    throw InputError(where, "one of the networks " + join(known), checkpoint.network);
  }
  const TaskShape shape = LearnedRegistry::make(checkpoint.agent, {})->shape();
  return NativeNetworkRegistry::make(checkpoint.network, {checkpoint.weights, shape, where});
}

}  // namespace yard
