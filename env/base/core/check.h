// Internal checks: a violated precondition or invariant stops the program at once, on CPU and GPU.
// Invalid input of users is no violation, and throws InputError (error.h) instead.
#pragma once

#include <string>
#include <string_view>

#ifdef __CUDACC__
#define YARD_HD __host__ __device__
#else
#define YARD_HD
#endif

#ifdef __CUDA_ARCH__
#include <cstdio>
// In GPU code, the message must be a string literal.
#define YARD_CHECK(cond, message)                                                  \
  do {                                                                             \
    if (!(cond)) {                                                                 \
      printf("%s:%d: %s: check failed: %s\n", __FILE__, __LINE__, message, #cond); \
      __trap();                                                                    \
    }                                                                              \
  } while (false)
#else
#define YARD_CHECK(cond, message)                               \
  do {                                                          \
    if (!(cond)) [[unlikely]] {                                 \
      ::yard::check_failed(__FILE__, __LINE__, #cond, message); \
    }                                                           \
  } while (false)
#endif

namespace yard {

[[noreturn]] void check_failed(const char* file, int line, const char* cond,
                               std::string_view message);

}  // namespace yard
