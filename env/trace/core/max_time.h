// The largest time that a trace may contain.
#pragma once

#include <cstdint>

namespace yard {

// Seconds from 1970 to 2096. A thousand times kMaxTimeS still fits into int64 microseconds.
constexpr int64_t kMaxTimeS = 4'000'000'000;

}  // namespace yard
