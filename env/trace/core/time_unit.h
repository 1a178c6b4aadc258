// Units of times in tables, and the unit that a column's name states.
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
  int64_t us;          // `per` units last this many microseconds
  int64_t per = 1;
  friend bool operator==(const TimeUnit& a, const TimeUnit& b) {
    return a.us == b.us && a.per == b.per;
  }
};

inline constexpr TimeUnit kInSeconds{"seconds", "s", 1'000'000};
inline constexpr TimeUnit kInMilliseconds{"milliseconds", "ms", 1'000};
inline constexpr TimeUnit kInMinutes{"minutes", "min", 60'000'000};

// Returns the largest number of units which a time may have.
int64_t max_time_in_units(const TimeUnit& unit);

// Returns the unit in which a column is by its name: "duration_ms", "runMillis", "Wait [h]".
// nullptr: its name states none.
const TimeUnit* unit_in_column_name(std::string_view column);

// Parses a number of units, also with a fraction. Returns nothing for other text, and for times
// below 0 or beyond max_time_in_units().
std::optional<int64_t> parse_time_us(std::string_view text, const TimeUnit& unit);

}  // namespace yard
