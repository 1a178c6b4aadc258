// The agent `pilot` as a policy: each waiting job picks one of its options, and running jobs may
// migrate (env/task/joint_task.h). It goes by a rule and, if there is one, a network on top of it.
#pragma once

#include "env/task/joint_task.h"
#include "policies/learned/learned_agent.h"

namespace yard {

// How a network's scores are combined with the rule.
struct PilotPrior {
  double prior_slope = 1, prior_gap = 2;
  double temperature = 0;  // for sampling from the network's scores; 0: always the best

  void fields(FieldList& f);
};

// Settings of a pilot, apart from its weights.
struct PilotTask : PilotPrior {
  JointIndex::Config rule;  // including what the cluster allows

  void fields(FieldList& f);
  JointTaskConfig joint() const;
};

// A checkpoint's `task` as JSON, and back. pilot_from() throws InputError.
nlohmann::ordered_json pilot_json(const PilotTask& task);
PilotTask pilot_from(const nlohmann::ordered_json& json);

// Returns the checkpoint of a pilot without a network.
Checkpoint rule_checkpoint(const PilotTask& task);

}  // namespace yard
