#include "policies/learned/learned_agent.h"

#include "env/base/error.h"

namespace yard {

std::unique_ptr<Policy> policy_of(const Checkpoint& checkpoint, const std::string& where,
                                  const Settings& settings) {
  if (checkpoint.network != "job-scorer" && checkpoint.network != "none") {
    throw InputError(where, "the network job-scorer, or none", checkpoint.network);
  }
  try {
    return LearnedRegistry::make(checkpoint.agent, {})->policy(checkpoint, where, settings);
  } catch (const nlohmann::json::exception& error) {
    throw InputError(where, "a task of the agent '" + checkpoint.agent + "'", error.what());
  }
}

}  // namespace yard
