// A policy asked again for what a log holds: does it decide as it was decided then?
#pragma once

#include <cstdint>
#include <string>

#include "policies/policy.h"
#include "serving/log_reader.h"

namespace yard {

struct LogReplay {
  uint64_t asked = 0;
  uint64_t same = 0;          // the same actions and wake-up
  uint64_t same_actions = 0;  // the same actions
  uint64_t acts = 0;          // there were actions then
  uint64_t same_acts = 0;     // of those, the same actions
  uint64_t failed = 0;        // it could not answer
  uint64_t passed = 0;        // not asked: another source than the policy answered then
  std::string first;          // decision_id of the first whose actions differ
};

enum class Decisions { kOfPolicy, kAll };

// Reads the log to its end.
LogReplay replay(LogReader& log, const Policy& policy, Decisions which);

}  // namespace yard
