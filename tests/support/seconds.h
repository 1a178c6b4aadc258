// Microseconds of a second, for tests that state times in seconds.
#pragma once

#include <cstdint>

namespace yard {

constexpr int64_t kUsPerS = 1'000'000;

}  // namespace yard
