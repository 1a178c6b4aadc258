// Agent `pilot`, the flagship: which of its options each job takes, or that it waits on, on top of
// the rule of env/sim/joint.h, whose numbers a search has found.
#include "policies/learned/pilot.h"

#include "agents/agent.h"
#include "agents/task_worlds.h"
#include "policies/learned/open_policy.h"

namespace yard {
namespace {

struct Config {
  std::string rule;
  double prior_slope = 1, prior_gap = 2, temperature = 0;

  void fields(FieldList& f) {
    f("rule", rule, "a policy file of `joint`, as evolve writes it; empty: its defaults");
    f("prior_slope", prior_slope, 0.0, 100.0, "logit lost by what is worth a doubling less");
    f("prior_gap", prior_gap, 0.0, 100.0, "logit lost by every pick but the one suggested");
    f("temperature", temperature, 0.0, 10.0,
      "at which what is served draws from what is scored; 0: always the best");
  }
};

PilotTask task_of(const Config& config) {
  PilotTask task;
  if (!config.rule.empty())
    task.rule = parse<JointIndex::Config>(policy_file(config.rule, "joint"));
  task.prior_slope = config.prior_slope;
  task.prior_gap = config.prior_gap;
  task.temperature = config.temperature;
  return task;
}

class PilotAgent final : public Agent {
 public:
  explicit PilotAgent(const Settings& settings) : task_(task_of(parse<Config>(settings))) {}

  std::unique_ptr<Worlds> worlds(std::vector<Course> courses,
                                 const WorldsOptions& options) const override {
    return std::make_unique<TaskWorlds<JointTask>>(std::move(courses), options, task_.joint());
  }

  Checkpoint checkpoint(const Trained& trained) const override {
    Checkpoint c;
    c.agent = "pilot";
    c.network = trained.network;
    c.task = pilot_json(task_);
    c.weights = trained.weights;
    c.golden = pack_golden(trained.golden, JointTask::kShape);
    c.provenance = trained.provenance;
    return c;
  }

  std::unique_ptr<Policy> heuristic() const override {
    Checkpoint rule;
    rule.agent = "pilot";
    rule.network = "none";
    rule.task = pilot_json(task_);
    return policy_of(rule, "training");
  }

 private:
  PilotTask task_;
};

const AgentRegistry::Add<PilotAgent> kPilot{
    "pilot",
    {.about = "order, type, place, preemption and moves: picks from every job's options",
     .source = "this project",
     .fidelity = "ours",
     .information = "history",
     .settings = describe<Config>}};

}  // namespace
}  // namespace yard
