// Jobs of about one size: 0 and 1, 2, 3 to 4, 5 to 8 GPUs, and so on.
#pragma once

#include <cstdint>

#include "env/base/check.h"

namespace yard {

constexpr int32_t kJobSizes = 12;

YARD_HD inline int32_t job_size(int32_t gpus) {
  int32_t k = 0;
  while (k < kJobSizes - 1 && (1 << k) < gpus) ++k;
  return k;
}

}  // namespace yard
