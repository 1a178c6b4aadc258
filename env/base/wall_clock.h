// Dates as logs write them, and the local time of the place that wrote them.
//
//   Zone chicago("CST6CDT,M3.2.0,M11.1.0");
//   int64_t unix_s = chicago.unix_s(*parse_date_s("2023-03-12T02:59:59"));
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace yard {

// "2021-03-04" with an optional "T12:30" or "T12:30:15" ('T' may be a blank, and a 'Z' follow), to
// seconds since 1970 on that clock.
std::optional<int64_t> parse_date_s(std::string_view text);

// Seconds since 1970 as "2021-03-04T12:30:15", which parse_date_s() reads back.
std::string date_text(int64_t unix_s);

// A clock on a wall: so far from UTC, and another distance from one day of the year to another.
class Zone {
 public:
  Zone() = default;  // UTC

  // A POSIX rule: "UTC0", "JST-9", "CET-1CEST,M3.5.0,M10.5.0/3". Days of summer time are of the
  // form Mmonth.week.weekday[/hour]. Throws InputError naming `where`.
  explicit Zone(std::string_view rule, std::string_view where = "time zone");

  // Returns seconds since 1970 of what parse_date_s() read off this clock. An hour that comes twice
  // is taken as the second, one that never comes as if the clock had not been put forward.
  int64_t unix_s(int64_t wall_s) const;

  // The other time that the clock may have meant: the first of an hour that comes twice, or summer
  // time of one that never comes. The same as unix_s() everywhere else.
  int64_t other_unix_s(int64_t wall_s) const;

 private:
  struct Change {
    int month = 0, week = 0, weekday = 0;  // week 5: the last
    int64_t at_s = 7200;                   // of that day, by the clock before the change
    int64_t wall_s(int year) const;
  };

  static int year_of(int64_t wall_s);

  int64_t west_s_ = 0;   // to be added for UTC
  int64_t ahead_s_ = 0;  // by which summer is ahead; 0: there is none
  Change begin_, end_;
};

}  // namespace yard
