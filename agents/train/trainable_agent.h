// Prepares an agent for training: makes its environments, and a checkpoint of trained weights.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "agents/rollout/vector_env.h"
#include "agents/train/training_result.h"
#include "policies/policy.h"

namespace yard {

class TrainableAgent {
 public:
  // Throws InputError if no agent is called `name` or a setting is invalid.
  TrainableAgent(std::string name, const Settings& settings);

  const Agent& agent() const { return *agent_; }
  std::unique_ptr<VectorEnv> make_environments(std::vector<EnvSpec> env_specs,
                                               const VectorEnvOptions& options) const;
  Checkpoint checkpoint(const TrainingResult& trained) const;
  // Returns the expert, from whose decisions training starts and with which validation compares.
  std::unique_ptr<Policy> expert() const;
  std::string expert_name() const { return agent_->expert().policy; }

 private:
  std::string name_;
  std::shared_ptr<const Agent> agent_;
};

}  // namespace yard
