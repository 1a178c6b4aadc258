// Agent `pilot`, the flagship: chooses an option for each job, or that it waits. Its prior is the
// rule of env/scheduling/joint.h, whose parameters a search has tuned.
#include "policies/learned/pilot.h"

#include <filesystem>

#include "agents/rollout/task_vector_env.h"
#include "agents/train/agent.h"
#include "env/base/core/error.h"
#include "policies/learned/open_policy.h"

namespace yard {
namespace {

struct Config : PilotPrior {
  std::string rule;

  void fields(FieldList& f) {
    f("rule", rule, "policy file of `joint`, as written by evolve; empty: defaults");
    PilotPrior::fields(f);
  }
};

PilotTask task_of(const Config& config) {
  PilotTask task;
  static_cast<PilotPrior&>(task) = config;
  if (!config.rule.empty()) {
    if (!std::filesystem::exists(config.rule)) {
      throw InputError("rule", "a policy file, relative to the current folder",
                       "'" + config.rule + "', which does not exist");
    }
    task.rule = parse<JointIndex::Config>(policy_file(config.rule, "joint"));
  }
  return task;
}

class PilotAgent final : public Agent {
 public:
  explicit PilotAgent(const Settings& settings) : task_(task_of(parse<Config>(settings))) {}

  std::unique_ptr<VectorEnv> worlds(std::vector<EnvSpec> env_specs,
                                    const VectorEnvOptions& options) const override {
    return std::make_unique<TaskVectorEnv<JointTask>>(std::move(env_specs), options, task_.joint());
  }

  Checkpoint checkpoint(const TrainingResult& trained) const override {
    Checkpoint c;
    c.agent = "pilot";
    c.network = trained.network;
    c.task = pilot_json(task_);
    c.weights = trained.weights;
    c.golden = pack_golden(trained.golden, JointTask::kShape);
    c.provenance = trained.provenance;
    c.core_s = trained.core_s;
    return c;
  }

  std::unique_ptr<Policy> heuristic() const override {
    return policy_of(rule_checkpoint(task_), "training");
  }
  std::string heuristic_name() const override { return "joint (the agent's initial rule)"; }

 private:
  PilotTask task_;
};

const AgentRegistry::Add<PilotAgent> kPilot{
    "pilot",
    {.about =
         "chooses order, GPU type, placement, preemption and migration among each job's options",
     .source = "this project",
     .fidelity = "ours",
     .information = "history",
     .settings = describe<Config>}};

}  // namespace
}  // namespace yard
