// Facts that no policy may know in advance: the work of each job and all future faults. Only
// advance() and the engine for oracle policies read these facts.
#pragma once

#include <cstdint>

namespace yard {

// What a fault does to GPUs of one node.
enum class FaultKind : uint8_t {
  kFail,     // jobs stop and lose the work since their last checkpoint
  kReclaim,  // jobs that can save within the notice are preempted at once
  kDrain,    // running jobs go on, and no other job gets the GPUs
  kRepair,   // GPUs without another fault come back
};

struct Fault {
  int64_t at_us = 0;
  int64_t until_us = 0;  // time when the GPUs come back; unused for a repair
  int32_t node = 0;
  FaultKind kind = FaultKind::kFail;
  uint64_t mask = 0;      // which GPUs
  int64_t notice_us = 0;  // reclaim: how long jobs may still use the GPUs
};

struct Truth {
  const int64_t* work_us = nullptr;  // (N)  run time alone on the reference type
  const Fault* faults = nullptr;     // (F)  by rising time
  int32_t num_faults = 0;
};

}  // namespace yard
