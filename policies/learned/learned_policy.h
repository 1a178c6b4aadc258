// Makes policies of checkpoints, for simulation and serving. A decision lists the agent's actions,
// scores them with the network, and applies the best or a sampled action, until no action is left.
// The code that trains networks is in agents/.
#pragma once

#include <memory>
#include <string>

#include "env/task/agent.h"
#include "policies/learned/checkpoint.h"
#include "policies/learned/native_network.h"
#include "policies/policy.h"

namespace yard {

// Network name in a checkpoint without a network, where the agent's expert decides.
inline constexpr const char* kNoNetwork = "none";

// Converts an agent to its settings in a checkpoint; agent_of() converts back or throws InputError.
nlohmann::ordered_json agent_settings_json(const std::string& name, const Agent& agent);
std::unique_ptr<Agent> agent_of(const Checkpoint& checkpoint);

// Returns whether a site may switch off the agent's setting `key` (Agent::Info::permissions).
bool may_site_switch_off(const std::string& agent, const std::string& key);

// Returns a checkpoint without a network, in which the agent's expert decides.
Checkpoint expert_checkpoint(const std::string& agent, const Settings& settings);

// Returns the agent's expert, whose decisions an untrained network reproduces.
std::unique_ptr<Policy> expert_policy(const Agent& agent);

// Returns the policy of a checkpoint. `settings` may only switch off Agent::Info::permissions.
// Throws InputError if the task or the weights do not fit the agent, or a setting is unknown.
std::unique_ptr<Policy> policy_of(const Checkpoint& checkpoint, const std::string& where,
                                  const Settings& settings = {});
Policy::Info policy_info(const Checkpoint& checkpoint);

// Throws InputError naming `where` if the network is unknown or the weights do not fit it.
std::unique_ptr<NativeNetwork> network_of(const Checkpoint& checkpoint, const std::string& where);

// Policy::decide() throws this when an output of the network is not finite.
class NonFinite : public std::runtime_error {
 public:
  NonFinite() : std::runtime_error("the network's output is not finite") {}
};

}  // namespace yard
