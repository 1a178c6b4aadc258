#include "env/trace/core/time_unit.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <string>
#include <vector>

#include "env/base/text/text.h"
#include "env/trace/core/max_time.h"

namespace yard {
namespace {

constexpr int64_t kUsPerS = 1'000'000;

constexpr TimeUnit kInMicroseconds{"microseconds", "us", 1};
constexpr TimeUnit kInNanoseconds{"nanoseconds", "ns", 1, 1'000};
constexpr TimeUnit kInHours{"hours", "h", 3'600'000'000};
constexpr TimeUnit kInDays{"days", "d", 86'400'000'000};

// The last words of names of columns, in lower case, that state a unit.
struct UnitWords {
  const TimeUnit& unit;
  std::vector<std::string_view> words;
};
const std::array kUnitWords = {
    UnitWords{kInSeconds, {"s", "sec", "secs", "second", "seconds"}},
    UnitWords{kInMilliseconds,
              {"ms", "msec", "msecs", "milli", "millis", "millisec", "millisecs", "millisecond",
               "milliseconds"}},
    // With the micro sign and with mu.
    UnitWords{kInMicroseconds,
              {"us", "\xC2\xB5s", "\xCE\xBCs", "usec", "usecs", "micro", "micros", "microsecond",
               "microseconds"}},
    UnitWords{kInNanoseconds,
              {"ns", "nsec", "nsecs", "nano", "nanos", "nanosecond", "nanoseconds"}},
    UnitWords{kInMinutes, {"m", "min", "mins", "minute", "minutes"}},
    UnitWords{kInHours, {"h", "hr", "hrs", "hour", "hours"}},
    UnitWords{kInDays, {"d", "day", "days"}}};

// Words before a unit in a name without a mark between the two: "durationms".
constexpr std::array<std::string_view, 9> kStems = {
    "time", "duration", "elapsed", "submit", "start", "limit", "arrival", "end", "run"};

// Returns the last word of a name in lower case: "ms" of "duration_ms", "durationMs" and
// "Duration (ms)". Bytes above ASCII are letters.
std::string last_word(std::string_view name) {
  const auto is_letter = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x80 || std::isalpha(byte) != 0;
  };
  while (!name.empty() && !is_letter(name.back())) {
    if (std::isdigit(static_cast<unsigned char>(name.back())) != 0) return "";
    name.remove_suffix(1);
  }
  size_t first = name.size();
  while (first > 0 && is_letter(name[first - 1])) {
    const bool hump = first < name.size() &&
                      std::islower(static_cast<unsigned char>(name[first - 1])) &&
                      std::isupper(static_cast<unsigned char>(name[first]));
    if (hump) break;
    --first;
  }
  return lower_case(name.substr(first));
}

}  // namespace

int64_t max_time_in_units(const TimeUnit& unit) { return kMaxTimeS * kUsPerS / unit.us * unit.per; }

const TimeUnit* unit_in_column_name(std::string_view column) {
  const std::string word = last_word(column);
  for (const auto& [unit, words] : kUnitWords) {
    if (std::ranges::count(words, word) > 0) return &unit;
  }
  for (const auto& [unit, words] : kUnitWords) {
    for (const std::string_view text : words) {
      if (text.size() < 2 || !word.ends_with(text)) continue;
      const std::string_view stem = std::string_view(word).substr(0, word.size() - text.size());
      if (std::ranges::any_of(kStems, [&](auto one) { return stem.ends_with(one); })) return &unit;
    }
  }
  return nullptr;
}

std::optional<int64_t> parse_time_us(std::string_view text, const TimeUnit& unit) {
  text = trim(text);
  const int64_t most = max_time_in_units(unit);
  if (const auto whole = parse_int(text)) {
    if (*whole < 0 || *whole > most) return std::nullopt;
    return (*whole * unit.us + unit.per / 2) / unit.per;
  }
  const auto rough = parse_double(text);
  if (!rough || *rough < 0 || *rough > static_cast<double>(most)) return std::nullopt;
  const auto millionths = parse_seconds_us(text);
  if (!millionths) {  // more digits than fit: a double holds the microseconds that matter
    return std::llround(*rough * static_cast<double>(unit.us) / static_cast<double>(unit.per));
  }
  const int64_t parts = kUsPerS * unit.per / unit.us;  // 0 for units above a second
  return parts == 0 ? *millionths * (unit.us / kUsPerS) : (*millionths + parts / 2) / parts;
}

}  // namespace yard
