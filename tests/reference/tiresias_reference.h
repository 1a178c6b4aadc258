// The rules of Tiresias' simulator a second time: slow, obvious, whole lists walked at every event,
// nothing kept that could be computed. Shares no code with the simulator; held against it in
// tests/env/rulesets/tiresias_test.cc.
#pragma once

#include <string>
#include <vector>

#include "tests/reference/seconds.h"

namespace yard::reference {

struct Nodes {
  int count = 0;
  int gpus_each = 0;
  int per_switch = 0;
};

// Requires: jobs by submission. Jobs that never end keep end_s = -1. `punctual`: dlas as it was
// meant to be, without the late jumps and the remembered ends of the original.
std::vector<SecondsOutcome> tiresias(const std::vector<SecondsJob>& jobs, const Nodes& nodes,
                                     const std::string& policy, const std::string& placement,
                                     bool punctual = false);

}  // namespace yard::reference
