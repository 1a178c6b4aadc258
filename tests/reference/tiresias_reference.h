// A second implementation of Tiresias' simulator: slow and obvious. Lists are walked at every
// event, and nothing computable is stored. Shares no code with the simulator. Compared with it in
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

// Requires: jobs by submission. Jobs that never end keep end_s = -1. `punctual`: dlas as intended,
// without the original's late jumps and outdated lists of ends.
std::vector<SecondsOutcome> tiresias(const std::vector<SecondsJob>& jobs, const Nodes& nodes,
                                     const std::string& policy, const std::string& placement,
                                     bool punctual = false);

}  // namespace yard::reference
