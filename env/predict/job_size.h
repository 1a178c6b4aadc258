// Size classes of jobs: 0 to 1 GPU, 2 GPUs, 3 to 4 GPUs, 5 to 8 GPUs, and so on.
#pragma once

#include <cstdint>

#include "env/base/core/check.h"

namespace yard {

constexpr int32_t kJobSizes = 12;

YARD_HD inline int32_t gpu_size_bucket(int32_t gpus) {
  int32_t k = 0;
  while (k < kJobSizes - 1 && (1 << k) < gpus) ++k;
  return k;
}

// Coarser size classes for tables by user: up to 1 GPU, 2 to 4 GPUs, 5 to 8 GPUs, more.
constexpr int32_t kUserSizes = 4;

YARD_HD inline int32_t coarse_gpu_size_bucket(int32_t gpus) {
  return gpus <= 1 ? 0 : gpus <= 4 ? 1 : gpus <= 8 ? 2 : 3;
}

}  // namespace yard
