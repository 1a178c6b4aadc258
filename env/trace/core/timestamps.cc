#include "env/trace/core/timestamps.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "env/base/core/error.h"
#include "env/base/text/text.h"
#include "env/trace/core/max_time.h"
#include "env/trace/core/rows.h"

namespace yard {
namespace {

constexpr int64_t kUsPerS = 1'000'000;
constexpr int64_t kMaxTimeUs = kMaxTimeS * kUsPerS;
constexpr std::string_view kDigits = "0123456789";

// From here on, a number is not a distance from a trace's zero (31 years) but a date since 2001.
// From 1e11 on it is in milliseconds, from 1e14 on in microseconds, from 1e17 on in nanoseconds.
constexpr double kSecondsFrom = 1e9;
constexpr int64_t kSecondsFromUs = 1'000'000'000 * kUsPerS;

constexpr int64_t kHourUs = 3600 * kUsPerS;

// Returns the kind of times since 1970 in a unit that is known.
TimestampReader::Kind kind_in(const TimeUnit& unit) {
  using Kind = TimestampReader::Kind;
  if (unit.per > 1) return Kind::kNanos;
  return unit.us >= kUsPerS ? Kind::kSeconds : unit.us > 1 ? Kind::kMillis : Kind::kMicros;
}

bool all_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of(kDigits) == text.npos;
}

// Parses "+08:00", "-0530" or "+08" after a clock time to seconds ahead of UTC.
std::optional<int64_t> offset_s(std::string_view text) {
  const bool west = text.starts_with('-');
  std::string digits(text.substr(1));
  std::erase(digits, ':');
  if (!all_digits(digits) || (digits.size() != 2 && digits.size() != 4)) return std::nullopt;
  const int64_t hours = *parse_int(digits.substr(0, 2));
  const int64_t minutes = digits.size() == 4 ? *parse_int(digits.substr(2)) : 0;
  if (hours > 23 || minutes > 59) return std::nullopt;
  return (west ? -1 : 1) * (hours * 3600 + minutes * 60);
}

// Parses ".25" after the seconds to microseconds; returns nothing for other text.
std::optional<int64_t> fraction_us(std::string_view text) {
  if (text.empty()) return 0;
  if ((text.front() != '.' && text.front() != ',') || !all_digits(text.substr(1))) {
    return std::nullopt;
  }
  return parse_seconds_us("0." + std::string(text.substr(1)));
}

}  // namespace

std::optional<int64_t> parse_iso_date_us(std::string_view text, const Zone& zone,
                                         int64_t* other_us) {
  constexpr size_t kDate = 10;
  text = trim(text);
  std::optional<int64_t> ahead_s;
  if (text.size() > kDate && (text.ends_with('Z') || text.ends_with("UTC"))) {
    text = trim(text.substr(0, text.size() - (text.ends_with('Z') ? 1 : 3)));
    ahead_s = 0;
  } else if (text.size() > kDate) {
    const size_t sign = text.find_first_of("+-", kDate);
    if (sign != text.npos) {
      ahead_s = offset_s(text.substr(sign));
      if (!ahead_s) return std::nullopt;
      text = trim(text.substr(0, sign));
    }
  }
  constexpr size_t kSeconds = 19;  // "2021-03-04T12:30:15"
  const auto fraction = fraction_us(text.size() > kSeconds ? text.substr(kSeconds) : "");
  const auto wall_s = parse_date_s(text.substr(0, kSeconds));
  if (!fraction || !wall_s) return std::nullopt;
  const int64_t unix_s = ahead_s ? *wall_s - *ahead_s : zone.unix_s(*wall_s);
  if (other_us != nullptr) {
    *other_us = (ahead_s ? unix_s : zone.other_unix_s_if_ambiguous(*wall_s)) * kUsPerS + *fraction;
  }
  return unix_s * kUsPerS + *fraction;
}

bool has_utc_offset(std::string_view date) {
  constexpr size_t kDate = 10;
  date = trim(date);
  return date.size() > kDate && (date.ends_with('Z') || date.ends_with("UTC") ||
                                 date.find_first_of("+-", kDate) != date.npos);
}

std::optional<int64_t> parse_duration_us(std::string_view text) {
  text = trim(text);
  int64_t days = 0;
  const size_t behind = text.find_first_not_of(kDigits);
  if (behind == text.npos || behind == 0) return std::nullopt;
  if (text[behind] == '-' || text[behind] == ' ') {
    const auto number = parse_int(text.substr(0, behind));
    if (!number || *number > kMaxTimeS / 86400) return std::nullopt;
    days = *number;
    text.remove_prefix(behind + 1);
    for (const std::string_view word : {"days", "day"}) {
      if (!text.starts_with(word)) continue;
      text.remove_prefix(word.size());
      break;
    }
    text = trim(text);
  }
  const auto parts = split(text, ':');
  if (parts.size() != 3 || !all_digits(parts[0]) || !all_digits(parts[1]) || parts[2].size() < 2 ||
      !all_digits(parts[2].substr(0, 2))) {
    return std::nullopt;
  }
  const auto hours = parse_int(parts[0]), minutes = parse_int(parts[1]);
  const auto seconds = parse_int(parts[2].substr(0, 2));
  const auto fraction = fraction_us(parts[2].substr(2));
  if (!hours || !minutes || !fraction || *minutes > 59 || *seconds > 59 ||
      *hours > kMaxTimeS / 3600) {
    return std::nullopt;
  }
  return (days * 86400 + *hours * 3600 + *minutes * 60 + *seconds) * kUsPerS + *fraction;
}

ResolvedTimes resolve_ambiguous_times(const AmbiguousTime& submit, const AmbiguousTime& start,
                                      const AmbiguousTime& end, int64_t run_us) {
  ResolvedTimes out{submit.us, start.us, end.us};
  if (start.us >= 0 && end.us >= 0) {
    int64_t least = std::numeric_limits<int64_t>::max();
    for (const int64_t from : {start.us, start.other_us}) {
      for (const int64_t to : {end.us, end.other_us}) {
        const int64_t beyond = to - from - std::max<int64_t>(run_us, 0);
        const int64_t cost = beyond >= 0 ? beyond : 100 * kHourUs - beyond;
        if (cost >= least) continue;
        least = cost;
        out.start_us = from;
        out.end_us = to;
      }
    }
    out.hour_short = run_us >= 0 && out.end_us - out.start_us == run_us - kHourUs;
  }
  if (out.start_us >= 0 && out.submit_us > out.start_us) {
    out.submit_us = std::min(submit.us, submit.other_us);
  }
  return out;
}

std::optional<int64_t> TimestampReader::read(std::string_view text, const TimeUnit& unit) {
  text = trim(text);
  if (kind_ == Kind::kUnknown || kind_ == Kind::kDates) {
    const auto us = parse_iso_date_us(text, zone_, &other_us_);
    if (us) kind_ = Kind::kDates;
    used_zone_ = used_zone_ || (us && !has_utc_offset(text));
    if (us || kind_ == Kind::kDates) return us;
  }
  if (kind_ == Kind::kTraceSeconds) return std::nullopt;
  const auto number = parse_double(text);
  if (!number) return std::nullopt;
  std::optional<int64_t> us;
  if (unit != kInSeconds) {
    us = parse_time_us(text, unit);
    if (us && kind_ == Kind::kUnknown) {
      kind_ = looks_like_date(*us) ? kind_in(unit) : Kind::kTraceSeconds;
    }
  } else {
    if (kind_ == Kind::kUnknown) {
      kind_ = *number < kSecondsFrom         ? Kind::kTraceSeconds
              : *number < 1e2 * kSecondsFrom ? Kind::kSeconds
              : *number < 1e5 * kSecondsFrom ? Kind::kMillis
              : *number < 1e8 * kSecondsFrom ? Kind::kMicros
                                             : Kind::kNanos;
    }
    if (kind_ != Kind::kTraceSeconds) us = since_1970_us(text, *number);
  }
  // Earlier times are from another zero.
  if (kind_ == Kind::kTraceSeconds || !us || !looks_like_date(*us)) return std::nullopt;
  other_us_ = *us;
  return us;
}

std::optional<int64_t> TimestampReader::since_1970_us(std::string_view text, double number) const {
  // Whole numbers are exact. For others, a double holds the microseconds that matter.
  const double per_unit_us = kind_ == Kind::kSeconds  ? 1e6
                             : kind_ == Kind::kMillis ? 1e3
                             : kind_ == Kind::kMicros ? 1
                                                      : 1e-3;
  const double rough_us = number * per_unit_us;
  if (rough_us < 0 || rough_us > static_cast<double>(kMaxTimeUs)) return std::nullopt;
  if (const auto whole = parse_int(text)) {
    return kind_ == Kind::kNanos ? *whole / 1000 : *whole * static_cast<int64_t>(per_unit_us);
  }
  if (kind_ == Kind::kSeconds) return parse_seconds_us(text);
  return std::llround(rough_us);
}

TimestampReader::TimestampStatus TimestampReader::read(std::string_view text, const TimeUnit& unit,
                                                       bool required, AmbiguousTime& out) {
  if (const auto us = read(text, unit)) {
    if (*us < 0 || *us > kMaxTimeUs) return TimestampStatus::kOtherFormat;
    out = {*us, other_us_ < 0 ? *us : other_us_};
    return TimestampStatus::kTime;
  }
  if (kind_ == Kind::kUnknown) return TimestampStatus::kNoTime;
  if (kind_ == Kind::kTraceSeconds) {
    const auto us = parse_time_us(text, unit);
    if (!us) return TimestampStatus::kNoTime;
    if (!own_zero_ && looks_like_date(*us)) return TimestampStatus::kOtherFormat;
    out = {*us, *us};
    return TimestampStatus::kTime;
  }
  const bool zero = kind_ != Kind::kDates && parse_double(trim(text)) == 0.0;
  return zero && !required ? TimestampStatus::kMissing : TimestampStatus::kOtherFormat;
}

std::string TimestampReader::kind_text() const {
  if (kind_ == Kind::kDates) return "dates";
  if (!has_calendar_times()) return "seconds from the trace's zero";
  const char* const unit = kind_ == Kind::kSeconds  ? "seconds"
                           : kind_ == Kind::kMillis ? "milliseconds"
                           : kind_ == Kind::kMicros ? "microseconds"
                                                    : "nanoseconds";
  return std::string(unit) + " since 1970";
}

void rebase_calendar_times(const TimestampReader& timestamps, const std::string& zone, Rows& rows) {
  const bool dates = timestamps.kind() == TimestampReader::Kind::kDates;
  if (zone != "UTC0" && !timestamps.used_zone() &&
      timestamps.kind() != TimestampReader::Kind::kUnknown) {
    throw InputError("trace.zone", "a file with dates without a time zone",
                     dates ? "dates that all have one" : "times in " + timestamps.kind_text());
  }
  if (!timestamps.has_calendar_times()) return;
  rows.move_zero_to_first_submission();
  if (dates) return;
  rows.add_file_notice("submissions, starts and ends are read as " + timestamps.kind_text() +
                       "; time 0 is the first submission");
}

bool looks_like_date(int64_t us) { return us >= kSecondsFromUs; }

}  // namespace yard
