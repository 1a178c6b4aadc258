// Runs a policy on the snapshots of a log and compares its decisions with the recorded ones.
#pragma once

#include <cstdint>
#include <string>

#include "policies/policy.h"
#include "serving/log/log_reader.h"

namespace yard {

struct LogReplay {
  uint64_t replayed = 0;
  uint64_t same = 0;          // same actions and wake-up
  uint64_t same_actions = 0;  // same actions
  uint64_t acts = 0;          // recorded decisions with actions
  uint64_t same_acts = 0;     // of those, with the same actions
  uint64_t failed = 0;        // the policy failed to decide
  uint64_t skipped = 0;       // skipped: not recorded from the policy
  std::string first;          // decision_id of the first with other actions
};

enum class Decisions { kOfPolicy, kAll };

// Reads the log to its end.
LogReplay replay(LogReader& log, const Policy& policy, Decisions which);

}  // namespace yard
