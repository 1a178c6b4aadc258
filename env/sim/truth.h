// What nobody may know in advance: how much work each job holds. (Which jobs are still to come is
// in the job table, of which a `View` shows only the part that has arrived.) Read by advance()
// alone, and by the engine where a policy's declared level of information is an oracle's.
#pragma once

#include <cstdint>

namespace yard {

// What happens to GPUs of one node.
enum class FaultKind : uint8_t {
  kFail,     // their jobs stop and lose what they did since their last checkpoint
  kReclaim,  // their jobs are told beforehand: those that can save in time do, and stop
  kDrain,    // their jobs go on; nobody else gets the GPUs
  kRepair,   // those whose time is over come back
};

struct Fault {
  int64_t at_us = 0;
  int64_t until_us = 0;  // when the GPUs come back; of a repair: nothing
  int32_t node = 0;
  FaultKind kind = FaultKind::kFail;
  uint64_t mask = 0;      // which GPUs
  int64_t notice_us = 0;  // of a reclaim: for so long its jobs may still use them
};

struct Truth {
  const int64_t* work_us = nullptr;  // (N)  run time alone on the reference type
  const Fault* faults = nullptr;     // (F)  by rising time
  int32_t num_faults = 0;
};

}  // namespace yard
