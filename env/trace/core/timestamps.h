// Parses the times in tables: dates with or without a time zone, seconds or finer units since 1970,
// and durations in hours and minutes.
//
//   parse_iso_date_us("2023-03-01 00:18:22.5+08:00", Zone());  // since 1970
//   TimestampReader timestamps{Zone()};
//   std::optional<int64_t> us = timestamps.read("1709251200000");  // the file's first:
//   milliseconds
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "env/base/text/wall_clock.h"
#include "env/trace/core/time_unit.h"

namespace yard {

// Parses an ISO 8601 date, which may have a fraction of a second and an offset from UTC ("Z",
// "+08:00", "+0800", "+08"), to microseconds since 1970. A date without an offset is in `zone`.
// `other_us` is set to the other time which an ambiguous clock time can mean
// (Zone::other_unix_s_if_ambiguous), or to the result if the time is not ambiguous.
std::optional<int64_t> parse_iso_date_us(std::string_view text, const Zone& zone,
                                         int64_t* other_us = nullptr);

// A time, and the other time which an ambiguous clock time can mean; -1 stands for no time.
struct AmbiguousTime {
  int64_t us = -1, other_us = -1;
};

// The times of a job, free of ambiguity.
struct ResolvedTimes {
  int64_t submit_us, start_us, end_us;
  bool hour_short = false;  // end minus start is exactly an hour less than the run time
};

// Chooses the meanings of ambiguous times that best fit the run time `run_us` (-1: unknown) and the
// order submission, start, end.
ResolvedTimes resolve_ambiguous_times(const AmbiguousTime& submit, const AmbiguousTime& start,
                                      const AmbiguousTime& end, int64_t run_us);

// Advice for times that are out of order, which often means that clocks were put back.
inline constexpr const char* kSetZoneAdvice =
    "set the time zone, as in --set trace.zone=CET-1CEST,M3.5.0,M10.5.0/3";

// Returns whether a date has its own offset from UTC, so that no time zone applies.
bool has_utc_offset(std::string_view date);

// Parses a duration, "01:30:00", "2-01:30:00" or "2 days 01:30:00.5", to microseconds.
std::optional<int64_t> parse_duration_us(std::string_view text);

// Reads the times of one file, whose first time decides the kind of all: dates, seconds, ...
class TimestampReader {
 public:
  enum class Kind {
    kUnknown,       // no time was read yet
    kTraceSeconds,  // seconds from the trace's own time 0
    kDates,
    kSeconds,  // seconds since 1970
    kMillis,
    kMicros,
    kNanos,
  };

  explicit TimestampReader(Zone zone) : zone_(std::move(zone)) {}

  // Declares that numbers in the file, however large, are seconds from the trace's own time 0.
  void set_relative_seconds() {
    kind_ = Kind::kTraceSeconds;
    own_zero_ = true;
  }
  bool has_declared_relative_seconds() const { return own_zero_; }

  // Returns a time in microseconds since 1970; nothing if the file's times count from its own time
  // 0, or if `text` is not a time of the file's kind. With the unit kInSeconds, times since 1970
  // may be in a finer unit, which their size shows.
  std::optional<int64_t> read(std::string_view text, const TimeUnit& unit = kInSeconds);

  // Whether a text is a time of this file.
  enum class TimestampStatus {
    kTime,         // time since 1970 if has_calendar_times(), else from the trace's own time 0
    kMissing,      // "0" in a file of times since 1970, unless `required`
    kNoTime,       // neither a date nor a number in range
    kOtherFormat,  // a time of another kind than the file's first time
  };
  TimestampStatus read(std::string_view text, const TimeUnit& unit, bool required,
                       AmbiguousTime& out);

  Kind kind() const { return kind_; }
  bool used_zone() const { return used_zone_; }  // some date had no UTC offset of its own
  bool has_calendar_times() const {
    return kind_ != Kind::kUnknown && kind_ != Kind::kTraceSeconds;
  }
  std::string kind_text() const;  // "milliseconds since 1970"

 private:
  std::optional<int64_t> since_1970_us(std::string_view text, double number) const;

  Zone zone_;
  Kind kind_ = Kind::kUnknown;
  bool used_zone_ = false, own_zero_ = false;
  int64_t other_us_ = -1;  // the other meaning of the last date, if ambiguous
};

class Rows;
struct Trace;

// Makes a trace of calendar times begin at its first job, and adds a notice of how numbers were
// read. Throws InputError if a time zone is set which no date uses.
void rebase_calendar_times(const TimestampReader& timestamps, const std::string& zone, Rows& rows);

// Returns whether a time is so large that TimestampReader takes it for a time since 1970.
bool looks_like_date(int64_t us);

}  // namespace yard
