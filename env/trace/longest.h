// The longest time that a trace may say, of whatever.
#pragma once

#include <cstdint>

namespace yard {

// To 2096 from 1970. Taken a thousand times slower, and added to a clock, it fits into int64
// microseconds.
constexpr int64_t kLongestS = 4'000'000'000;

}  // namespace yard
