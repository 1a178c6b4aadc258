// Loops over all rows of a window. On the host, the loops use the widest vector instructions of the
// processor (the build targets x86-64-v2 only), with bit-identical results.
#pragma once

#include <cstdint>

#include "env/base/core/check.h"

namespace yard {

constexpr int kRowFeatures = 8;

namespace plain {

YARD_HD inline void add_to_each_row(const float* __restrict rows, const float* __restrict moment,
                                    int32_t n, float* __restrict out) {
  for (int32_t r = 0; r < n; ++r) {
    for (int32_t c = 0; c < kRowFeatures; ++c) {
      out[r * kRowFeatures + c] = rows[r * kRowFeatures + c] + moment[c];
    }
  }
}

YARD_HD inline int32_t flag_values_at_most(const int32_t* __restrict values, int32_t n,
                                           int32_t most, uint8_t* __restrict flags) {
  int32_t sum = 0;
  for (int32_t r = 0; r < n; ++r) {
    const int32_t flag = values[r] <= most;
    flags[r] = static_cast<uint8_t>(flag);
    sum += flag;
  }
  return sum;
}

}  // namespace plain

#ifdef __CUDACC__
using plain::add_to_each_row;
using plain::flag_values_at_most;
#else
// Sets out[r] = rows[r] + shared_features for `n` rows of kRowFeatures numbers.
void add_to_each_row(const float* rows, const float* shared_features, int32_t n, float* out);

// Sets flags[r] = values[r] <= most for `n` rows. Returns the number of flags set.
int32_t flag_values_at_most(const int32_t* values, int32_t n, int32_t most, uint8_t* flags);
#endif

}  // namespace yard
