#include "policies/learned/learned_agent.h"

#include <algorithm>

#include "env/base/core/error.h"
#include "env/base/text/json_flaw.h"
#include "policies/learned/row_agent.h"
#include "policies/learned/untrained.h"

namespace yard {

std::unique_ptr<LearnedAgent> learned_agent(const std::string& name) {
  if (RowTasks::has(name)) return row_agent(name);
  if (LearnedRegistry::has(name)) return LearnedRegistry::make(name, {});
  std::vector<std::string> known = LearnedRegistry::names();
  for (const std::string& row : RowTasks::names()) known.push_back(row);
  std::ranges::sort(known);
  throw InputError("agent", "one of: " + join(known), "'" + name + "'");
}

Settings task_settings(const nlohmann::ordered_json& task) {
  Settings out;
  for (const auto& [key, value] : task.items()) {
    if (key == "name") continue;
    if (!value.is_string()) throw InputError("task." + key, "a string", value.dump());
    out.set(key, value.get<std::string>(), "task");
  }
  return out;
}

std::unique_ptr<Policy> policy_of(const Checkpoint& checkpoint, const std::string& where,
                                  const Settings& settings) {
  try {
    return learned_agent(checkpoint.agent)->policy(checkpoint, where, settings);
  } catch (const nlohmann::json::exception& error) {
    throw InputError(where, "a valid task of agent '" + checkpoint.agent + "'", json_flaw(error));
  }
}

std::unique_ptr<NativeNetwork> network_of(const Checkpoint& checkpoint, const std::string& where) {
  const TaskShape shape = learned_agent(checkpoint.agent)->shape();
  if (checkpoint.network == kUntrainedNetwork) return untrained_network(shape);
  const std::vector<std::string> known = NativeNetworkRegistry::names();
  if (std::ranges::find(known, checkpoint.network) == known.end()) {
    throw InputError(where, "one of the networks " + join(known), checkpoint.network);
  }
  return NativeNetworkRegistry::make(checkpoint.network, {checkpoint.weights, shape, where});
}

}  // namespace yard
