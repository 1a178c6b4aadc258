#include "env/base/core/check.h"

#include <cstdio>
#include <cstdlib>

namespace yard {

void check_failed(const char* file, int line, const char* cond, std::string_view message) {
  std::fprintf(stderr, "%s:%d: %.*s: check failed: %s\n", file, line,
               static_cast<int>(message.size()), message.data(), cond);
  std::abort();
}

}  // namespace yard
