// A second implementation of Blox's Fifo: every round is played, every job and node visited. Shares
// no code with the simulator. Compared with it in tests/env/rulesets/blox_test.cc.
#pragma once

#include <vector>

#include "tests/reference/seconds.h"

namespace yard::reference {

// Requires: jobs by submission. `nodes`: GPUs of each. Jobs that never start keep end_s = -1.
std::vector<SecondsOutcome> blox(const std::vector<SecondsJob>& jobs, const std::vector<int>& nodes,
                                 int64_t round_s);

}  // namespace yard::reference
