#include "experiments/pilot_checkpoint.h"

#include "policies/learned/pilot.h"

namespace yard {

Checkpoint pilot_checkpoint(const Settings& rule, nlohmann::ordered_json provenance) {
  PilotTask task;
  task.rule = parse<JointIndex::Config>(rule);
  Checkpoint out = rule_checkpoint(task);
  out.provenance = std::move(provenance);
  return out;
}

}  // namespace yard
