#include "env/sim/rulesets/published.h"

#include "env/base/core/error.h"
#include "env/base/text/text.h"

namespace yard {

SimModel without_costs(SimModel fixed) {
  fixed.costs = {.save_us = 0, .restore_us = 0, .restore_large_us = 0, .scale = 0};
  return fixed;
}

void check_published(const Replay& replay, const std::string& rules) {
  for (int32_t j = replay.first_job; j < replay.end_job; ++j) {
    if (replay.fixed.jobs.gpus[j] > 0) continue;
    throw InputError("trace", "jobs with GPUs (rule set " + rules + " supports no others)",
                     "none for job number " + std::to_string(j));
  }
  if (RuleSetRegistry::info(rules).by_types) return;
  const SpecColumns& spec = replay.fixed.spec;
  for (int32_t m = 0; m < spec.num_nodes; ++m) {
    if (spec.node_speed[m] == 1) continue;
    throw InputError("cluster", "GPUs of speed 1 (rule set " + rules + " treats all GPUs alike)",
                     shortest(spec.node_speed[m]) + " at node " + std::to_string(m));
  }
}

void remove_job(const SimModel& fixed, SimState& s, int32_t slot) {
  if (s.phase[slot] == Phase::kWaiting) {
    queue_remove(s, slot);
    s.phase[slot] = Phase::kDone;
    --s.head->live;
    ++s.head->finished;
  } else {
    detail::finish(fixed, s, slot);
  }
  mark_changed(s, slot);
}

}  // namespace yard
