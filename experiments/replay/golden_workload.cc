#include "experiments/replay/golden_workload.h"

#include "experiments/replay/load_scenario.h"
#include "experiments/replay/replay.h"
#include "policies/learned/learned_policy.h"

namespace yard {

nlohmann::ordered_json run_golden_workload(const Checkpoint& checkpoint) {
  ScenarioOptions options;
  options.trace = "synthetic:mixed";
  options.cluster = "mixed-9";
  options.generate_jobs = 256;
  options.window.from = "0";
  PreparedPolicy prepared;
  prepared.name = checkpoint.agent;
  prepared.policy = policy_of(checkpoint, "the checkpoint", {});
  prepared.level = prepared.policy->level();
  int64_t decisions = 0;
  RunOptions how;
  how.watch = [&](const SimModel&, const SimState&) { ++decisions; };
  const Run run = run_prepared(load_scenario(options), prepared, how);
  return {{"workload", options.trace},
          {"cluster", options.cluster},
          {"jobs", options.generate_jobs},
          {"decisions", decisions},
          {"preemptions", run.summary.preemptions},
          {"mean_jct_s", run.summary.all.mean_jct_s},
          {"p99_jct_s", run.summary.all.p99_jct_s}};
}

}  // namespace yard
