// The largest time, of any kind, in a trace.
#pragma once

#include <cstdint>

namespace yard {

// From 1970 to 2096. A thousand times this, added to a clock time, fits into int64 microseconds.
constexpr int64_t kMaxTimeS = 4'000'000'000;

}  // namespace yard
