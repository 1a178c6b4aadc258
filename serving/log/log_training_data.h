// Converts a decision log to training data for an agent whose actions start or preempt one job
// each, such as `dispatcher`: each recorded decision is replayed as steps of the agent.
#pragma once

#include <cstdint>
#include <string>

#include "env/task/agent.h"
#include "policies/learned/recorded_choices.h"
#include "serving/log/log_reader.h"

namespace yard {

struct LogTrainingData {
  RecordedChoices steps;  // steps.decision counts the decisions of the logged policy
  uint64_t decisions = 0;
  uint64_t skipped = 0;          // decisions which the logged policy did not make
  uint64_t impossible = 0;       // decisions whose snapshot is invalid
  uint64_t idle = 0;             // decisions in which the agent has no action to choose
  uint64_t actions = 0;          // recorded starts and preemptions
  uint64_t reproduced = 0;       // recorded actions reproduced by actions of the agent
  uint64_t other_placement = 0;  // reproduced starts which the agent would place elsewhere
  uint64_t expert_action = 0;    // steps whose action the agent's expert would also choose
  uint64_t nothing = 0;          // steps whose action is the no-op
  // Recorded actions and decisions which the agent cannot express.
  uint64_t not_shown = 0;  // actions on jobs for which the agent lists no action
  uint64_t not_legal = 0;  // actions which the agent lists, but not as legal
  uint64_t forced = 0;     // empty decisions in which the agent has no legal no-op
  std::string first;       // id of the first decision which the agent cannot fully express
};

// Replays all decisions of the log as steps of the agent. A decision's starts keep their order.
// Preemptions, in their order, come before a start which is not possible without them.
LogTrainingData training_data_of(LogReader& log, const Agent& agent);

}  // namespace yard
