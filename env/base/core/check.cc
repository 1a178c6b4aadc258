#include "env/base/core/check.h"

#include <cstdio>
#include <cstdlib>

namespace yard {

void check_failed(const char* file, int line, const char* cond, const char* message) {
  std::fprintf(stderr, "%s:%d: %s: check failed: %s\n", file, line, message, cond);
  std::abort();
}

void check_failed(const char* file, int line, const char* cond, const std::string& message) {
  check_failed(file, line, cond, message.c_str());
}

}  // namespace yard
