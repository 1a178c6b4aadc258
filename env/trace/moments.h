// Times as tables write them: dates with or without a zone, seconds, milliseconds and finer since
// 1970, spans of hours and minutes.
//
//   calendar_us("2023-03-01 00:18:22.5+08:00", Zone());  // since 1970
//   MomentReader moments{Zone()};
//   std::optional<int64_t> us = moments.read("1709251200000");  // the file's first: milliseconds
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "env/base/wall_clock.h"

namespace yard {

// A date as ISO 8601 has it, also with a fraction of a second and its own distance from UTC ("Z",
// "+08:00", "+0800", "+08"), to microseconds since 1970; without one it is of `zone`.
std::optional<int64_t> calendar_us(std::string_view text, const Zone& zone);

// Whether such a date names its own distance from UTC, so that no zone says anything of it.
bool names_offset(std::string_view date);

// "01:30:00", "2-01:30:00", "2 days 01:30:00.5", to microseconds.
std::optional<int64_t> span_us(std::string_view text);

// Reads the moments of one file, which are all of one kind: the first says which.
class MomentReader {
 public:
  enum class Kind {
    kUnknown,  // none was read so far
    kPlain,    // seconds from the trace's own zero
    kDates,
    kSeconds,  // since 1970; so are the ones that follow
    kMillis,
    kMicros,
    kNanos,
  };

  explicit MomentReader(Zone zone) : zone_(std::move(zone)) {}

  // The file names its own zero: its numbers are seconds from there.
  void set_plain() { kind_ = Kind::kPlain; }

  // Microseconds of a moment since 1970. None for seconds from the file's own zero, and for what
  // is no moment of the file's kind.
  std::optional<int64_t> read(std::string_view text);

  Kind kind() const { return kind_; }
  bool used_zone() const { return used_zone_; }  // some date named no distance of its own
  bool calendar() const { return kind_ != Kind::kUnknown && kind_ != Kind::kPlain; }
  std::string kind_text() const;  // "milliseconds since 1970"

 private:
  Zone zone_;
  Kind kind_ = Kind::kUnknown;
  bool used_zone_ = false;
};

class Rows;
struct Trace;

// Lets a trace of calendar times begin with its first job, and says how numbers were understood.
// Throws InputError about a zone where no date is read by it.
void settle_moments(const MomentReader& moments, const std::string& zone, Rows& rows);

// Whether MomentReader would take the submissions of a trace without a calendar for dates.
bool looks_like_dates(const Trace& trace);

}  // namespace yard
