// Jobs and outcomes of the slow simulators, which count whole seconds.
#pragma once

#include <cstdint>

namespace yard::reference {

struct SecondsJob {
  int64_t submit_s = 0;
  int64_t run_s = 0;
  int gpus = 0;
};

struct SecondsOutcome {
  int64_t start_s = -1;
  int64_t end_s = -1;
  int preemptions = 0;
  int starts = 0;
};

}  // namespace yard::reference
