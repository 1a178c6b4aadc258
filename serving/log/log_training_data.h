// Converts a decision log to training data for the agent `dispatcher`: each recorded decision is
// replayed as steps of its task.
//
//   LogReader log("log");
//   const LogTrainingData choices = training_data_of(log, task);
//   pack_choices(choices.steps)
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "env/task/dispatch.h"
#include "policies/learned/recorded_choices.h"
#include "serving/log/log_reader.h"

namespace yard {

struct LogTrainingData {
  RecordedChoices steps;  // `decision` counts those of the log's own policy
  uint64_t decisions = 0;
  uint64_t skipped = 0;          // not decided by the policy: skipped
  uint64_t impossible = 0;       // the snapshot is invalid
  uint64_t idle = 0;             // the task had no action to choose
  uint64_t actions = 0;          // recorded starts and stops
  uint64_t reproduced = 0;       // of these, reproduced in the task
  uint64_t other_placement = 0;  // of the reproduced, starts with another placement than the task's
  uint64_t expert_action = 0;    // steps where the task's own index agrees
  uint64_t nothing = 0;          // steps with the no-op
  // Of the actions, those which the task cannot express.
  uint64_t not_shown = 0;  // the job is in no row
  uint64_t not_legal = 0;  // the job has a row, but the action is masked
  uint64_t forced = 0;     // empty decisions where the task has no legal no-op
  std::string first;       // decision_id of the first which the task cannot fully express
};

// Replays the decisions of the log to its end. Starts of a decision keep their order. Recorded
// stops, in their order, go before a start which is not possible yet.
LogTrainingData training_data_of(LogReader& log, const DispatchConfig& task);

}  // namespace yard
