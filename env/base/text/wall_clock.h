// Parses and formats dates of logs, and converts local times to UTC by time zone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace yard {

// Parses "2021-03-04" with an optional "T12:30" or "T12:30:15" (a blank may replace 'T', and 'Z'
// may follow). Returns seconds since 1970 on the date's clock, or nothing if the text is no date.
std::optional<int64_t> parse_date_s(std::string_view text);

// Formats seconds since 1970 as "2021-03-04T12:30:15", a form that parse_date_s() reads.
std::string date_text(int64_t unix_s);

// A time zone: an offset from UTC, and optionally daylight saving time.
class Zone {
 public:
  Zone() = default;  // UTC

  // Parses a POSIX time zone: "UTC0", "JST-9", "CET-1CEST,M3.5.0,M10.5.0/3". Changes must have the
  // form Mmonth.week.weekday[/hour]. Throws InputError, naming `where`, for invalid rules.
  explicit Zone(std::string_view rule, std::string_view where = "time zone");

  // Converts a local time of parse_date_s() to seconds since 1970 in UTC. A time in a repeated hour
  // means the second occurrence; a time in a skipped hour is read on the clock before the change.
  int64_t unix_s(int64_t wall_s) const;

  // Converts as unix_s() does, except for ambiguous times: a time in a repeated hour means the
  // first occurrence; a time in a skipped hour is read as daylight saving time.
  int64_t other_unix_s_if_ambiguous(int64_t wall_s) const;

 private:
  struct DstChange {
    int64_t month = 0, week = 0, weekday = 0;  // week 5: last week
    int64_t at_s = 7200;                       // seconds of the day, on the clock before the change
    int64_t wall_s(int year) const;
  };

  static int year_of(int64_t wall_s);

  int64_t west_s_ = 0;   // seconds west of UTC
  int64_t ahead_s_ = 0;  // shift of daylight saving time in seconds; 0: no shift
  DstChange begin_, end_;
};

}  // namespace yard
