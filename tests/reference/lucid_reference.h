// A second implementation of Lucid's simulator: every second is walked, every list is sorted again.
// Shares no code with the simulator. Compared with it in tests/env/rulesets/lucid_test.cc.
#pragma once

#include <string>
#include <vector>

#include "tests/reference/seconds.h"

namespace yard::reference {

struct LucidRules {
  std::string policy, placement;
  int64_t preempt_s = 40, preempt_large_s = 60;
  int64_t limit_gpu_s = 18000;
  int64_t round_s = 60;
};

// Requires: jobs by submission; every one fits the cluster. `nodes`: GPUs of each.
std::vector<SecondsOutcome> lucid(const std::vector<SecondsJob>& jobs,
                                  const std::vector<int>& nodes, const LucidRules& rules);

}  // namespace yard::reference
