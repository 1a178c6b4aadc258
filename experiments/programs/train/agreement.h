// How far a network does what was done in recorded decisions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "policies/learned/checkpoint.h"
#include "policies/learned/recorded_choices.h"

namespace yard {

struct Agreement {
  int64_t steps = 0, agreed = 0;      // with anything to choose
  int64_t acts = 0, acts_agreed = 0;  // of these, those at which something was done
  int64_t decisions = 0, whole = 0;   // decisions all of whose steps agree, none missed
  int64_t missed = 0;                 // actions that the task cannot say
  std::vector<std::pair<int32_t, bool>> of_decision;  // number, whether whole; by number

  // Of all that was chosen, whether or not the task can say it.
  double recovered() const {
    return static_cast<double>(agreed) / static_cast<double>(std::max<int64_t>(1, steps + missed));
  }
};

// By the best action of the checkpoint's network, as it is served. Throws InputError when the
// network does not fit.
Agreement agreement_of(const Checkpoint& checkpoint, const RecordedChoices& choices);

}  // namespace yard
