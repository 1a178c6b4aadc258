// Rule set of AccaSim (Galleguillos et al., 2018) with its FIFO dispatcher and First-Fit: events in
// whole seconds, a blocked head of the queue blocks all others, no costs. Each GPU counts as one
// of AccaSim's nodes with one core. First-Fit fills them in order, across the cluster's nodes.
//
// Differs from the original: memory is not modelled, and a job requests only a number of cores.
// (With nodes of several cores, jobs of the original request whole nodes.)
#include "env/sim/rulesets/fifo_engine.h"

namespace yard {
namespace {

Outcome replay_accasim(const Replay& replay, const NoConfig&) {
  RuleSetSimBySlot stage(replay, "accasim");
  return replay_fifo(stage, {}, replay);
}

const RuleSetRegistry::Add<FunctionRuleSet<NoConfig, replay_accasim>> kAccaSim{
    "accasim",
    {.about = "events in whole seconds on single-core nodes; no costs",
     .source = "AccaSim, Cluster Computing 2020",
     .fidelity = "exact job for job on single-core nodes; memory is not modelled",
     .policies = {"fifo"},
     .placements = {"first-fit"}}};

}  // namespace
}  // namespace yard
