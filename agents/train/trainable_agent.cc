#include "agents/train/trainable_agent.h"

#include "agents/rollout/batch_vector_env.h"
#include "policies/learned/learned_policy.h"

namespace yard {

TrainableAgent::TrainableAgent(std::string name, const Settings& settings)
    : name_(std::move(name)), agent_(make_agent(name_, settings)) {}

std::unique_ptr<VectorEnv> TrainableAgent::make_environments(
    std::vector<EnvSpec> env_specs, const VectorEnvOptions& options) const {
  return std::make_unique<BatchVectorEnv>(std::move(env_specs), options, agent_);
}

Checkpoint TrainableAgent::checkpoint(const TrainingResult& trained) const {
  Checkpoint c;
  c.agent = name_;
  c.network = trained.network;
  c.task = agent_settings_json(name_, *agent_);
  c.weights = trained.weights;
  c.golden = pack_golden(trained.golden, agent_->shape());
  c.provenance = trained.provenance;
  c.core_s = trained.core_s;
  return c;
}

std::unique_ptr<Policy> TrainableAgent::expert() const { return expert_policy(*agent_); }

}  // namespace yard
