// The current time of day.
#pragma once

#include <chrono>

namespace yard {

// Returns seconds since 1970 UTC.
inline double unix_now_s() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace yard
