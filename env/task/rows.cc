#include "env/task/rows.h"

// Sanitizer runtimes load after clones are resolved, and Clang 14 does not support target_clones.
#if defined(__x86_64__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define YARD_WIDEST __attribute__((target_clones("avx2", "default")))
#else
#define YARD_WIDEST
#endif

namespace yard {

YARD_WIDEST void add_to_each_row(const float* rows, const float* shared_features, int32_t n,
                                 float* out) {
  plain::add_to_each_row(rows, shared_features, n, out);
}

YARD_WIDEST int32_t flag_values_at_most(const int32_t* values, int32_t n, int32_t most,
                                        uint8_t* flags) {
  return plain::flag_values_at_most(values, n, most, flags);
}

}  // namespace yard
