// Converts a decision log to training data for an agent whose actions start or preempt one job
// each, such as `dispatcher`: each recorded decision is replayed as its steps.
#pragma once

#include <cstdint>
#include <string>

#include "env/task/agent.h"
#include "policies/learned/recorded_choices.h"
#include "serving/log/log_reader.h"

namespace yard {

struct LogTrainingData {
  RecordedChoices steps;  // `decision` numbers the decisions of the log's own policy
  uint64_t decisions = 0;
  uint64_t skipped = 0;          // decisions which the policy did not make
  uint64_t impossible = 0;       // the snapshot is invalid
  uint64_t idle = 0;             // the agent had no action to choose
  uint64_t actions = 0;          // recorded starts and stops
  uint64_t reproduced = 0;       // of these, reproduced as actions of the agent
  uint64_t other_placement = 0;  // of the reproduced: starts which the agent places elsewhere
  uint64_t expert_action = 0;    // steps where the agent's expert agrees
  uint64_t nothing = 0;          // steps with the no-op
  // Of the actions, those which the agent cannot express.
  uint64_t not_shown = 0;  // no action concerns the job
  uint64_t not_legal = 0;  // the action is listed, but not legal
  uint64_t forced = 0;     // empty decisions where the agent has no legal no-op
  std::string first;       // decision_id of the first which the agent cannot fully express
};

// Replays the decisions of the log to its end. Starts of a decision keep their order. Recorded
// stops, in their order, go before a start which is not possible yet.
LogTrainingData training_data_of(LogReader& log, const Agent& agent);

}  // namespace yard
