// What can be trained: the environments of an agent, and how trained weights become a policy. Most
// agents are one class in env/task/row_task.h. An agent which needs more, such as actions on the
// device, has a file here and registers itself (see pilot.cc).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "agents/rollout/vector_env.h"
#include "agents/train/training_result.h"
#include "env/base/config/registry.h"
#include "policies/policy.h"

namespace yard {

class Agent {
 public:
  static constexpr const char* kKind = "agent";
  struct Info {
    std::string about, source, fidelity, information;
    std::vector<Field> (*settings)();
  };

  virtual ~Agent() = default;
  virtual std::unique_ptr<VectorEnv> worlds(std::vector<EnvSpec> env_specs,
                                            const VectorEnvOptions& options) const = 0;
  virtual Checkpoint checkpoint(const TrainingResult& trained) const = 0;
  // The expert: training starts from its decisions, and validation compares with it.
  virtual std::unique_ptr<Policy> heuristic() const = 0;
  virtual std::string heuristic_name() const = 0;  // for messages: "las", "srsf-history"
};

// Holds only the agents which have a file here. Use the functions below to reach all agents.
using AgentRegistry = Registry<Agent>;

// Names of all agents, sorted.
std::vector<std::string> agent_names();
// Throw InputError if no agent has this name. make_agent() also throws if a setting is invalid.
Agent::Info agent_info(const std::string& name);
std::unique_ptr<Agent> make_agent(const std::string& name, const Settings& settings);

}  // namespace yard
