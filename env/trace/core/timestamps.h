// Parses times as tables write them: dates with or without a zone; seconds, milliseconds and finer
// units since 1970; spans in hours and minutes.
//
//   calendar_us("2023-03-01 00:18:22.5+08:00", Zone());  // since 1970
//   TimestampReader timestamps{Zone()};
//   std::optional<int64_t> us = timestamps.read("1709251200000");  // the file's first:
//   milliseconds
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "env/base/text/wall_clock.h"

namespace yard {

// Parses an ISO 8601 date to microseconds since 1970, also with a fraction of a second and an
// offset from UTC ("Z", "+08:00", "+0800", "+08"). A date without an offset is in `zone`.
std::optional<int64_t> calendar_us(std::string_view text, const Zone& zone);

// Returns whether a date has its own offset from UTC, so that no zone applies.
bool has_utc_offset(std::string_view date);

// Parses "01:30:00", "2-01:30:00" or "2 days 01:30:00.5" to microseconds.
std::optional<int64_t> span_us(std::string_view text);

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

  // Declares that the file has its own zero: its numbers are seconds from there.
  void set_trace_seconds() { kind_ = Kind::kTraceSeconds; }

  // Returns microseconds since 1970. Returns nothing for seconds from the file's own zero, and for
  // text that is not a time of the file's kind.
  std::optional<int64_t> read(std::string_view text);

  Kind kind() const { return kind_; }
  bool used_zone() const { return used_zone_; }  // some date had no offset of its own
  bool calendar() const { return kind_ != Kind::kUnknown && kind_ != Kind::kTraceSeconds; }
  std::string kind_text() const;  // "milliseconds since 1970"

 private:
  Zone zone_;
  Kind kind_ = Kind::kUnknown;
  bool used_zone_ = false;
};

class Rows;
struct Trace;

// Makes a trace of calendar times begin at its first job, and notes how numbers were interpreted.
// Throws InputError about a zone which no date uses.
void apply_timestamps(const TimestampReader& timestamps, const std::string& zone, Rows& rows);

// Returns whether TimestampReader would take submissions of a trace without a calendar for dates.
bool looks_like_dates(const Trace& trace);

}  // namespace yard
