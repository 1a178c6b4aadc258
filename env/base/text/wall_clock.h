// Parses and writes dates as in logs, and converts local times by time zone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace yard {

// Parses "2021-03-04" with an optional "T12:30" or "T12:30:15" (a blank may replace 'T', and 'Z'
// may follow). Returns seconds since 1970 on that clock, or nothing if the text is no date.
std::optional<int64_t> parse_date_s(std::string_view text);

// Formats seconds since 1970 as "2021-03-04T12:30:15", which parse_date_s() reads.
std::string date_text(int64_t unix_s);

// A time zone: an offset from UTC, and optionally daylight saving time.
class Zone {
 public:
  Zone() = default;  // UTC

  // Parses a POSIX rule: "UTC0", "JST-9", "CET-1CEST,M3.5.0,M10.5.0/3". Changes must have the form
  // Mmonth.week.weekday[/hour]. Throws InputError naming `where`.
  explicit Zone(std::string_view rule, std::string_view where = "time zone");

  // Converts local time, as parse_date_s() returns it, to seconds since 1970. A repeated hour is
  // taken as its second occurrence, a skipped hour as if the clock had not been put forward.
  int64_t unix_s(int64_t wall_s) const;

  // Returns the other interpretation: the first occurrence of a repeated hour, or daylight saving
  // time for a skipped one. Equals unix_s() everywhere else.
  int64_t other_unix_s_if_ambiguous(int64_t wall_s) const;

 private:
  struct Change {
    int64_t month = 0, week = 0, weekday = 0;  // week 5: the last
    int64_t at_s = 7200;  // seconds of that day, on the clock before the change
    int64_t wall_s(int year) const;
  };

  static int year_of(int64_t wall_s);

  int64_t west_s_ = 0;   // seconds west of UTC
  int64_t ahead_s_ = 0;  // seconds by which daylight saving time is ahead; 0: none
  Change begin_, end_;
};

}  // namespace yard
