#include "env/base/text/wall_clock.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "env/base/core/error.h"
#include "env/base/text/text.h"

namespace yard {
namespace {

namespace chrono = std::chrono;

void add_padded(unsigned value, size_t digits, std::string& out) {
  const std::string text = std::to_string(value);
  out.append(text.size() < digits ? digits - text.size() : 0, '0').append(text);
}

constexpr int64_t kHourS = 3600;
constexpr int64_t kDayS = 24 * kHourS;

int64_t days_of(chrono::sys_days day) { return day.time_since_epoch().count(); }

// Parses a POSIX rule from the left.
class RuleText {
 public:
  explicit RuleText(std::string_view text) : rest_(text) {}

  bool empty() const { return rest_.empty(); }
  bool take(char c) {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool name() {  // three letters or more, or anything in <>
    if (take('<')) {
      const size_t end = rest_.find('>');
      if (end == rest_.npos) return false;
      rest_.remove_prefix(end + 1);
      return true;
    }
    size_t letters = 0;
    while (letters < rest_.size() && ((rest_[letters] | 32) >= 'a' && (rest_[letters] | 32) <= 'z'))
      ++letters;
    rest_.remove_prefix(letters);
    return letters >= 3;
  }
  bool number(int64_t least, int64_t most, int64_t& out) {
    const size_t digits = std::min(rest_.find_first_not_of("0123456789"), rest_.size());
    const std::optional<int64_t> value = parse_int(rest_.substr(0, digits));
    if (!value || *value < least || *value > most) return false;
    rest_.remove_prefix(digits);
    out = *value;
    return true;
  }
  bool duration(int64_t& out_s) {  // [+-]hh[:mm[:ss]]
    const bool negative = take('-');
    if (!negative) take('+');
    int64_t hours = 0, minutes = 0, seconds = 0;
    if (!number(0, 167, hours)) return false;
    if (take(':') && !number(0, 59, minutes)) return false;
    if (take(':') && !number(0, 59, seconds)) return false;
    out_s = hours * kHourS + minutes * 60 + seconds;
    if (negative) out_s = -out_s;
    return true;
  }

 private:
  std::string_view rest_;
};

}  // namespace

std::string date_text(int64_t unix_s) {
  const chrono::sys_seconds at{chrono::seconds(unix_s)};
  const auto day = chrono::floor<chrono::days>(at);
  const chrono::year_month_day date{day};
  const auto second = static_cast<unsigned>((at - day).count());
  std::string out;
  add_padded(static_cast<unsigned>(static_cast<int>(date.year())), 4, out);
  for (const auto& [mark, value] :
       {std::pair('-', static_cast<unsigned>(date.month())),
        std::pair('-', static_cast<unsigned>(date.day())), std::pair('T', second / 3600),
        std::pair(':', second / 60 % 60), std::pair(':', second % 60)}) {
    add_padded(value, 2, out += mark);
  }
  return out;
}

std::optional<int64_t> parse_date_s(std::string_view text) {
  constexpr std::string_view kShape = "0000-00-00T00:00:00";
  if (text.ends_with('Z')) text.remove_suffix(1);
  if (text.size() != 10 && text.size() != 16 && text.size() != 19) return std::nullopt;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = i == 10 && text[i] == ' ' ? 'T' : text[i];
    if (c >= '0' && c <= '9' ? kShape[i] != '0' : c != kShape[i]) return std::nullopt;
  }
  const auto number = [&](size_t at, size_t length) {
    return at < text.size() ? parse_number<unsigned>(text.substr(at, length)).value_or(0) : 0;
  };
  const chrono::year_month_day day{chrono::year(static_cast<int>(number(0, 4))),
                                   chrono::month(number(5, 2)), chrono::day(number(8, 2))};
  const int64_t hour = number(11, 2), minute = number(14, 2), second = number(17, 2);
  if (!day.ok() || hour > 23 || minute > 59 || second > 59) return std::nullopt;
  return days_of(day) * kDayS + hour * kHourS + minute * 60 + second;
}

Zone::Zone(std::string_view rule, std::string_view where) {
  RuleText text(rule);
  const auto change = [&](DstChange& out) {
    return text.take(',') && text.take('M') && text.number(1, 12, out.month) && text.take('.') &&
           text.number(1, 5, out.week) && text.take('.') && text.number(0, 6, out.weekday) &&
           (!text.take('/') || text.duration(out.at_s));
  };
  const auto whole = [&] {
    if (!text.name() || !text.duration(west_s_)) return false;
    if (text.empty()) return true;
    if (!text.name()) return false;
    int64_t summer_west_s = west_s_ - kHourS;
    if (text.duration(summer_west_s) && summer_west_s >= west_s_) return false;
    ahead_s_ = west_s_ - summer_west_s;
    return change(begin_) && change(end_) && text.empty();
  };
  if (whole()) return;
  throw InputError(std::string(where), "a POSIX time zone such as UTC0 or CST6CDT,M3.2.0,M11.1.0",
                   "'" + std::string(rule) + "'");
}

int64_t Zone::DstChange::wall_s(int year) const {
  const chrono::weekday on(static_cast<unsigned>(weekday));
  const chrono::month in(static_cast<unsigned>(month));
  const chrono::year of(year);
  const chrono::sys_days day = week == 5
                                   ? chrono::sys_days(of / in / on[chrono::last])
                                   : chrono::sys_days(of / in / on[static_cast<unsigned>(week)]);
  return days_of(day) * kDayS + at_s;
}

int Zone::year_of(int64_t wall_s) {
  const chrono::sys_days day{chrono::days(wall_s / kDayS - (wall_s % kDayS < 0))};
  return static_cast<int>(chrono::year_month_day(day).year());
}

int64_t Zone::other_unix_s_if_ambiguous(int64_t wall_s) const {
  const int64_t usual_s = unix_s(wall_s);
  if (ahead_s_ == 0) return usual_s;
  const int year = year_of(wall_s);
  const int64_t skipped_s = begin_.wall_s(year), again_s = end_.wall_s(year) - ahead_s_;
  const bool unsure = (wall_s >= skipped_s && wall_s < skipped_s + ahead_s_) ||
                      (wall_s >= again_s && wall_s < again_s + ahead_s_);
  return unsure ? usual_s - ahead_s_ : usual_s;
}

int64_t Zone::unix_s(int64_t wall_s) const {
  if (ahead_s_ == 0) return wall_s + west_s_;
  const int year = year_of(wall_s);
  // Daylight saving time without its first hour, which is skipped, and without its last, which
  // repeats.
  const int64_t from_s = begin_.wall_s(year) + ahead_s_, to_s = end_.wall_s(year) - ahead_s_;
  const bool summer =
      from_s < to_s ? wall_s >= from_s && wall_s < to_s : wall_s >= from_s || wall_s < to_s;
  return wall_s + west_s_ - (summer ? ahead_s_ : 0);
}

}  // namespace yard
