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
      "order of jobs: by expected remaining service or by limits of attained service passed");
    f("limit_1_gpu_s", limit_1_gpu_s, 1.0, 1e9,
      "end of the first queue in GPU-seconds of attained service (index=attained)");
    f("limit_2_gpu_s", limit_2_gpu_s, 1.0, 1e9,
      "end of the second queue in GPU-seconds of attained service (index=attained)");
    f("placement", placement, {"first-fit", "best-fit", "consolidate"}, "placement rule");
    f("preempt", preempt, "allow preemption");
    f("gpu_exponent", gpu_exponent, 0.0, 2.0,
      "exponent of GPUs in the index, expected time x GPUs^exponent");
    f("margin_log2", margin_log2, 0.0, 10.0,
      "doublings by which a waiting job's index must be better to preempt a running job");
    f("shrink", shrink, 0.01, 100.0,
      "prior strength of all users' run times for one user, in jobs");
    f("sibling_prior", sibling_prior, 0.01, 1e6,
      "prior strength of the user's other jobs, in finished siblings");
    f("spread", spread, 0.2, 3.0, "standard deviation of log run times within a batch");
    f("spread_batch", spread_batch, 0.0, 5.0,
      "standard deviation of log run times between a user's batches");
    f("spread_user", spread_user, 0.0, 5.0, "standard deviation of log run times between users");
    f("quantum_s", quantum_s, 0.0, 1e6, "minimum run time before preemption, in seconds");
    f("tick_s", tick_s, 1.0, 1e6, "interval between decisions while jobs wait, in seconds");
    f("held_rows", held_rows, 1, 64,
      "maximum running jobs in the observation: the first that the index would preempt");
    f("waiting_rows", waiting_rows, 1, 128,
      "maximum waiting jobs in the observation: the first by the index");
    f("prior_gap", prior_gap, 0.0, 100.0, "logit penalty of all actions except the suggested one");
    f("prior_slope", prior_slope, 0.0, 100.0, "logit penalty per doubling of the index");
    f("prior_other", prior_other, 1e-6, 1.0,
      "prior probability of each kind of action that is not suggested");
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
    {.about = "starts and preempts jobs; its prior is an index of expected remaining service",
     .source = "this project",
     .fidelity = "ours",
     .information = "history",
     .settings = describe<Config>}};

}  // namespace
}  // namespace yard
