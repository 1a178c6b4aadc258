// Checkpoints as policies, for simulation and serving. A decision lists an agent's actions, scores
// them with the network, and applies the best, or a sample, until none is left. Training is in
// agents/.
#pragma once

#include <memory>
#include <string>

#include "env/task/agent.h"
#include "policies/learned/checkpoint.h"
#include "policies/learned/native_network.h"
#include "policies/policy.h"

namespace yard {

// The network of a checkpoint without one: the agent's expert decides.
inline constexpr const char* kNoNetwork = "none";

// An agent's settings as a checkpoint keeps them, and back. agent_of() throws InputError.
nlohmann::ordered_json agent_settings_json(const std::string& name, const Agent& agent);
std::unique_ptr<Agent> agent_of(const Checkpoint& checkpoint);

// Returns whether a site may switch the setting off (Agent::Info::permissions).
bool may_site_switch_off(const std::string& agent, const std::string& key);

// Returns a checkpoint without a network.
Checkpoint expert_checkpoint(const std::string& agent, const Settings& settings);

// Returns the policy whose decisions the agent makes with an untrained network.
std::unique_ptr<Policy> expert_policy(const Agent& agent);

// Returns the policy of a checkpoint. `settings` may only switch off what Agent::Info::permissions
// names. Throws InputError if the task or the weights do not fit, or for an unknown setting.
std::unique_ptr<Policy> policy_of(const Checkpoint& checkpoint, const std::string& where,
                                  const Settings& settings = {});
Policy::Info policy_info(const Checkpoint& checkpoint);

// Throws InputError naming `where` if the network is unknown or the weights do not fit.
std::unique_ptr<NativeNetwork> network_of(const Checkpoint& checkpoint, const std::string& where);

// Thrown by decide() when the network's output is not finite.
class NonFinite : public std::runtime_error {
 public:
  NonFinite() : std::runtime_error("the network's output is not finite") {}
};

}  // namespace yard
