// Agent `dispatcher`: starts and stops one job at a time, with an index of their expected remaining
// service as prior (env/task/dispatch.h).
#include "policies/learned/dispatcher.h"

#include <cmath>

#include "agents/rollout/task_vector_env.h"
#include "agents/train/agent.h"

namespace yard {
namespace {

struct Config {
  std::string index = "remaining";
  double limit_1_gpu_s = 3250;
  double limit_2_gpu_s = 7200;
  std::string placement = "first-fit";
  bool preempt = true;
  double gpu_exponent = 1;
  double margin_log2 = 1;
  double shrink = 1;
  double sibling_prior = 0.5;
  double spread = 0.7;
  double spread_batch = 0.9;
  double spread_user = 0.6;
  double quantum_s = 60;
  double tick_s = 300;
  int held_rows = 24;
  int waiting_rows = 56;
  double prior_gap = 0.5;
  double prior_slope = 3;
  double prior_other = 0.02;

  void fields(FieldList& f) {
    f("index", index, {"remaining", "attained"},
      "what jobs are ordered by: expected remaining service, or limits of attained service passed");
    f("limit_1_gpu_s", limit_1_gpu_s, 1.0, 1e9, "of attained: service that ends the first queue");
    f("limit_2_gpu_s", limit_2_gpu_s, 1.0, 1e9, "service that ends the second queue");
    f("placement", placement, {"first-fit", "best-fit", "consolidate"}, "where a job goes");
    f("preempt", preempt, "may running jobs be stopped");
    f("gpu_exponent", gpu_exponent, 0.0, 2.0, "the index is expected time x GPUs to this power");
    f("margin_log2", margin_log2, 0.0, 10.0,
      "doublings by which the index must be better to stop a job");
    f("shrink", shrink, 0.01, 100.0, "jobs of all users that the prior of a user is worth");
    f("sibling_prior", sibling_prior, 0.01, 1e6,
      "finished siblings that the user's other jobs are worth");
    f("spread", spread, 0.2, 3.0, "sd of log run times between the jobs of a batch");
    f("spread_batch", spread_batch, 0.0, 5.0, "sd of log run times between a user's batches");
    f("spread_user", spread_user, 0.0, 5.0, "sd of log run times between users");
    f("quantum_s", quantum_s, 0.0, 1e6, "a job is not stopped before it ran this long");
    f("tick_s", tick_s, 1.0, 1e6, "while jobs wait, who runs is looked at again after this long");
    f("held_rows", held_rows, 1, 64,
      "running jobs that are shown, those the index would stop first");
    f("waiting_rows", waiting_rows, 1, 128, "waiting jobs that are shown, the first by the index");
    f("prior_gap", prior_gap, 0.0, 100.0, "logit lost by every action but the one suggested");
    f("prior_slope", prior_slope, 0.0, 100.0, "logit lost per doubling of the index");
    f("prior_other", prior_other, 1e-6, 1.0, "weight of a kind of action that is not suggested");
  }

  DispatchConfig task() const {
    DispatchConfig task;
    for (size_t i = 0; i < std::size(kPlacementRuleNames); ++i) {
      if (placement == kPlacementRuleNames[i]) task.placement = static_cast<PlacementRule>(i);
    }
    if (index == kDispatchIndexNames[1]) task.index = DispatchIndex::kAttained;
    task.limit_1_gpu_s = static_cast<float>(limit_1_gpu_s);
    task.limit_2_gpu_s = static_cast<float>(limit_2_gpu_s);
    task.preempt = preempt;
    task.gpu_exponent = static_cast<float>(gpu_exponent);
    task.margin_log2 = static_cast<float>(margin_log2);
    task.sibling_prior = static_cast<float>(sibling_prior);
    task.shrink = static_cast<float>(shrink);
    task.quantum_us = std::llround(quantum_s * 1e6);
    task.tick_us = std::llround(tick_s * 1e6);
    task.held_rows = held_rows;
    task.waiting_rows = waiting_rows;
    task.prior_gap = static_cast<float>(prior_gap);
    task.prior_slope = static_cast<float>(prior_slope);
    task.prior_other = static_cast<float>(prior_other);
    task.run_times = RunTimes(static_cast<float>(spread), static_cast<float>(spread_batch),
                              static_cast<float>(spread_user));
    return task;
  }
};

class DispatcherAgent final : public Agent {
 public:
  explicit DispatcherAgent(const Settings& settings) : task_(parse<Config>(settings).task()) {}

  std::unique_ptr<VectorEnv> worlds(std::vector<EnvSpec> env_specs,
                                    const VectorEnvOptions& options) const override {
    return std::make_unique<TaskVectorEnv<Dispatch>>(std::move(env_specs), options, task_);
  }

  Checkpoint checkpoint(const TrainingResult& trained) const override {
    Checkpoint c;
    c.agent = "dispatcher";
    c.network = trained.network;
    c.task = dispatch_json(task_);
    c.weights = trained.weights;
    c.golden = pack_golden(trained.golden, kDispatchShape);
    c.provenance = trained.provenance;
    c.core_s = trained.core_s;
    return c;
  }

  std::unique_ptr<Policy> heuristic() const override {
    Settings settings;
    settings.set("placement", kPlacementRuleNames[static_cast<size_t>(task_.placement)],
                 "training");
    return PolicyRegistry::make(heuristic_name(), settings);
  }
  std::string heuristic_name() const override { return "srsf-history"; }

 private:
  DispatchConfig task_;
};

const AgentRegistry::Add<DispatcherAgent> kDispatcher{
    "dispatcher",
    {.about = "starts and stops jobs on top of an index of expected remaining service",
     .source = "this project",
     .fidelity = "ours",
     .information = "history",
     .settings = describe<Config>}};

}  // namespace
}  // namespace yard
