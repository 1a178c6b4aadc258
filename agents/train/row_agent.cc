// Trainable agents made from the classes in env/task/row_task.h.

#include "policies/learned/row_agent.h"

#include <algorithm>

#include "agents/rollout/task_vector_env.h"
#include "agents/train/agent.h"
#include "env/base/text/nearest_name.h"

namespace yard {
namespace {

class RowAgent final : public Agent {
 public:
  RowAgent(const std::string& name, const Settings& settings)
      : name_(name), task_(RowTasks::make(name, settings)) {}

  std::unique_ptr<VectorEnv> worlds(std::vector<EnvSpec> env_specs,
                                    const VectorEnvOptions& options) const override {
    return std::make_unique<TaskVectorEnv<RowTaskAdapter>>(std::move(env_specs), options,
                                                           RowTaskAdapter::Config{task_});
  }

  Checkpoint checkpoint(const TrainingResult& trained) const override {
    Checkpoint c;
    c.agent = name_;
    c.network = trained.network;
    c.task = row_task_json(name_, *task_);
    c.weights = trained.weights;
    c.golden = pack_golden(trained.golden, task_->shape());
    c.provenance = trained.provenance;
    c.core_s = trained.core_s;
    return c;
  }

  std::unique_ptr<Policy> heuristic() const override {
    const RowTask::Heuristic heuristic = task_->heuristic();
    return PolicyRegistry::make(heuristic.policy, heuristic.settings);
  }
  std::string heuristic_name() const override { return task_->heuristic().policy; }

 private:
  std::string name_;
  std::shared_ptr<const RowTask> task_;
};

}  // namespace

std::vector<std::string> agent_names() {
  std::vector<std::string> out = AgentRegistry::names();
  for (const std::string& name : RowTasks::names()) out.push_back(name);
  std::ranges::sort(out);
  return out;
}

Agent::Info agent_info(const std::string& name) {
  if (!RowTasks::has(name)) {
    if (AgentRegistry::has(name)) return AgentRegistry::info(name);
    throw unknown_name("agent", agent_names(), name);
  }
  const RowTask::Info& info = RowTasks::info(name);
  return {info.about, info.source, info.fidelity, level_name(info.level), info.settings};
}

std::unique_ptr<Agent> make_agent(const std::string& name, const Settings& settings) {
  if (RowTasks::has(name)) return std::make_unique<RowAgent>(name, settings);
  agent_info(name);  // throws if there is no such agent
  return AgentRegistry::make(name, settings);
}

}  // namespace yard
