// A decision log as the agent `dispatcher` sees it: every recorded decision is laid open as its
// task does, and followed step by step.
//
//   LogReader log("log");
//   const LogChoices choices = choices_of(log, task);
//   pack_choices(choices.steps)
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "env/task/dispatch.h"
#include "policies/learned/recorded_choices.h"
#include "serving/log_reader.h"

namespace yard {

struct LogChoices {
  RecordedChoices steps;  // `decision` counts those of the log's own policy
  uint64_t decisions = 0;
  uint64_t passed = 0;      // somebody else than the policy answered: not followed
  uint64_t impossible = 0;  // the snapshot cannot be read here
  uint64_t idle = 0;        // the task had nothing to choose
  uint64_t actions = 0;     // recorded starts and stops
  uint64_t followed = 0;    // of these, found again in the task
  uint64_t elsewhere = 0;   // of the followed, starts in another place than the task's own
  uint64_t suggested = 0;   // steps at which the task's own index says the same
  uint64_t nothing = 0;     // steps at which nothing more was done
  // Of the actions, those that the task cannot say.
  uint64_t not_shown = 0;  // the job stands in no row
  uint64_t not_legal = 0;  // it does, and the task does not allow it
  uint64_t forced = 0;     // decisions to do nothing where the task allows no such thing
  std::string first;       // decision_id of the first that the task cannot say whole
};

// Follows the decisions of the log to its end. In a decision the starts are taken in their order;
// before one that is not possible yet go the stops, in theirs.
LogChoices choices_of(LogReader& log, const DispatchConfig& task);

}  // namespace yard
