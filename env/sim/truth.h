// What nobody may know in advance: how much work each job holds. (Which jobs are still to come is
// in the job table, of which a `View` shows only the part that has arrived.) Read by advance()
// alone, and by the engine where a policy's declared level of information is an oracle's.
#pragma once

#include <cstdint>

namespace yard {

struct Truth {
  const int64_t* work_us = nullptr;  // (N)  run time alone on the reference type
};

}  // namespace yard
