// Parses times as tables write them: dates with or without a zone; seconds, milliseconds and finer
// units since 1970; spans in hours and minutes.
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

// Parses an ISO 8601 date to microseconds since 1970, also with a fraction of a second and an
// offset from UTC ("Z", "+08:00", "+0800", "+08"). A date without an offset is in `zone`.
// `other_us`: set to the other reading of a clock time that comes twice
// (Zone::other_unix_s_if_ambiguous), else to the result.
std::optional<int64_t> parse_iso_date_us(std::string_view text, const Zone& zone,
                                         int64_t* other_us = nullptr);

// A time, with the other reading of a clock time that comes twice; -1: none.
struct AmbiguousTime {
  int64_t us = -1, other_us = -1;
};

// The times of a job.
struct ResolvedTimes {
  int64_t submit_us, start_us, end_us;
  bool hour_short = false;  // end minus start is exactly an hour less than the run time
};

// Chooses the readings that agree best with the run time (-1: unknown) and the order of events.
ResolvedTimes resolve_ambiguous_times(const AmbiguousTime& submit, const AmbiguousTime& start,
                                      const AmbiguousTime& end, int64_t run_us);

// Advice for times out of order, which clocks that were put back explain.
inline constexpr const char* kSetZoneAdvice =
    "set the time zone, as in --set trace.zone=CET-1CEST,M3.5.0,M10.5.0/3";

// Returns whether a date has its own offset from UTC, so that no zone applies.
bool has_utc_offset(std::string_view date);

// Parses "01:30:00", "2-01:30:00" or "2 days 01:30:00.5" to microseconds.
std::optional<int64_t> parse_duration_us(std::string_view text);

// Reads the times of one file, which are all of one kind. The first time decides which.
class TimestampReader {
 public:
  enum class Kind {
    kUnknown,       // none was read yet
    kTraceSeconds,  // seconds from the trace's own zero
    kDates,
    kSeconds,  // since 1970, as are the following
    kMillis,
    kMicros,
    kNanos,
  };

  explicit TimestampReader(Zone zone) : zone_(std::move(zone)) {}

  // Declares that the file has its own zero: its numbers are seconds from there, however large.
  void set_relative_seconds() {
    kind_ = Kind::kTraceSeconds;
    own_zero_ = true;
  }
  bool has_relative_seconds() const { return own_zero_; }

  // Returns microseconds since 1970. Returns nothing for times from the file's own zero, and for
  // text that is not a time of the file's kind. `unit`: kInSeconds leaves the unit of times since
  // 1970 to their size.
  std::optional<int64_t> read(std::string_view text, const TimeUnit& unit = kInSeconds);

  // What a text is in this file.
  enum class TimestampStatus {
    kTime,         // since 1970 if calendar(), else from the file's own zero
    kMissing,      // 0 in a file of times since 1970; not if `required`
    kNoTime,       // neither a date nor a number in range
    kOtherFormat,  // of another kind than the file's first time
  };
  TimestampStatus read(std::string_view text, const TimeUnit& unit, bool required,
                       AmbiguousTime& out);

  Kind kind() const { return kind_; }
  bool used_zone() const { return used_zone_; }  // some date had no offset of its own
  bool calendar() const { return kind_ != Kind::kUnknown && kind_ != Kind::kTraceSeconds; }
  std::string kind_text() const;  // "milliseconds since 1970"

 private:
  std::optional<int64_t> since_1970_us(std::string_view text, double number) const;

  Zone zone_;
  Kind kind_ = Kind::kUnknown;
  bool used_zone_ = false, own_zero_ = false;
  int64_t other_us_ = -1;  // the other reading of the last date
};

class Rows;
struct Trace;

// Makes a trace of calendar times begin at its first job, and notes how numbers were interpreted.
// Throws InputError about a zone which no date uses.
void rebase_calendar_times(const TimestampReader& timestamps, const std::string& zone, Rows& rows);

// Returns whether a time from a trace's zero is so large that TimestampReader takes it for a date.
bool looks_like_date(int64_t us);

}  // namespace yard
