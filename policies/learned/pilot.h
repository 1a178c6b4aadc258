// The flagship as a policy: every job that waits picks from its options, those that run may move
// (env/task/joint_task.h), by a rule and, where there is one, a network on top of it.
#pragma once

#include "env/task/joint_task.h"
#include "policies/learned/learned_agent.h"

namespace yard {

// How a network's scores come on top of the rule.
struct PilotPrior {
  double prior_slope = 1, prior_gap = 2;
  double temperature = 0;  // of the network's choice; 0: always what is scored best

  void fields(FieldList& f);
};

// What a pilot is, beside its weights.
struct PilotTask : PilotPrior {
  JointIndex::Config rule;  // with what the cluster allows

  void fields(FieldList& f);
  JointTaskConfig joint() const;
};

// A checkpoint's `task`, and back. Throws InputError.
nlohmann::ordered_json pilot_json(const PilotTask& task);
PilotTask pilot_from(const nlohmann::ordered_json& json);

// Of a pilot without a network.
Checkpoint rule_checkpoint(const PilotTask& task);

}  // namespace yard
