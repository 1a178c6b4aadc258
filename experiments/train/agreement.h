// How often a network chooses the recorded actions of a decision log.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "policies/learned/checkpoint.h"
#include "policies/learned/recorded_choices.h"

namespace yard {

struct Agreement {
  int64_t steps = 0, agreed = 0;  // steps with more than one legal action
  int64_t action_steps = 0,
          action_steps_agreed = 0;  // those of them whose recorded action is not the no-op
  int64_t decisions = 0,
          reproduced = 0;       // reproduced: all steps agree and no action was unrepresentable
  int64_t unrepresentable = 0;  // recorded actions which the task cannot represent
  std::vector<std::pair<int32_t, bool>> by_decision;  // (decision, reproduced), by decision

  // Share of all recorded actions which the network chooses; unrepresentable ones count as not
  // chosen.
  double agreement_share() const {
    return static_cast<double>(agreed) /
           static_cast<double>(std::max<int64_t>(1, steps + unrepresentable));
  }
};

// Compares each recorded action with the network's most probable one, which is served. Throws
// InputError if the network does not fit the task.
Agreement agreement_of(const Checkpoint& checkpoint, const RecordedChoices& choices);

}  // namespace yard
