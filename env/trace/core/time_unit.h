// Units of time in tables, and the recognition of the unit that a column's name states.
//
//   const TimeUnit* unit = unit_in_column_name("duration_min");           // minutes
//   std::optional<int64_t> us = parse_time_us("90", *unit);        // 5'400'000'000
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace yard {

struct TimeUnit {
  const char* name;    // "minutes"
  const char* symbol;  // "min"
  int64_t us;          // microseconds in `per` units
  int64_t per = 1;
  friend bool operator==(const TimeUnit& a, const TimeUnit& b) {
    return a.us == b.us && a.per == b.per;
  }
};

inline constexpr TimeUnit kInSeconds{"seconds", "s", 1'000'000};
inline constexpr TimeUnit kInMilliseconds{"milliseconds", "ms", 1'000};
inline constexpr TimeUnit kInMinutes{"minutes", "min", 60'000'000};

// Returns the largest time that is accepted, as a number of units.
int64_t max_time_in_units(const TimeUnit& unit);

// Returns the unit that a column's name states, as in "duration_ms", "runMillis" or "Wait [h]";
// nullptr if the name states none.
const TimeUnit* unit_in_column_name(std::string_view column);

// Parses a number of units, which may have a fraction, to microseconds. Returns nothing for text
// that is not a number, and for times below 0 or above max_time_in_units().
std::optional<int64_t> parse_time_us(std::string_view text, const TimeUnit& unit);

}  // namespace yard
