#include "env/base/text/text.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>

namespace yard {

namespace {

constexpr uint64_t kMaxUs = std::numeric_limits<int64_t>::max();

std::string_view take_digits(std::string_view& text) {
  const size_t n = std::min(text.find_first_not_of("0123456789"), text.size());
  const std::string_view digits = text.substr(0, n);
  text.remove_prefix(n);
  return digits;
}

// Returns 0.DIGITS * 10^places, rounded to an integer, halves up; nothing if it exceeds int64.
std::optional<int64_t> whole(std::string_view digits, int64_t places) {
  const size_t zeros = std::min(digits.find_first_not_of('0'), digits.size());
  digits.remove_prefix(zeros);
  places -= static_cast<int64_t>(zeros);
  if (digits.empty() || places < 0) return 0;
  if (places > std::numeric_limits<int64_t>::digits10 + 1) return std::nullopt;
  const auto digit = [&](size_t i) -> uint64_t { return i < digits.size() ? digits[i] - '0' : 0; };
  const size_t kept = static_cast<size_t>(places);
  uint64_t value = 0;  // at most 19 digits: below 2^64
  for (size_t i = 0; i < kept; ++i) value = value * 10 + digit(i);
  value += digit(kept) >= 5;
  if (value > kMaxUs) return std::nullopt;
  return static_cast<int64_t>(value);
}

}  // namespace

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (size_t end; (end = text.find(separator)) != text.npos; text.remove_prefix(end + 1)) {
    parts.push_back(text.substr(0, end));
  }
  parts.push_back(text);
  return parts;
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  return fmt::format("{}", fmt::join(parts, separator));
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n\v\f";
  text.remove_prefix(std::min(text.find_first_not_of(kSpace), text.size()));
  return text.substr(0, text.find_last_not_of(kSpace) + 1);
}

std::optional<int64_t> parse_int(std::string_view text) { return parse_number<int64_t>(text); }

std::optional<double> parse_double(std::string_view text) {
  const auto value = parse_number<double>(text);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

std::string format_seconds(int64_t us) {
  // Unsigned, since the smallest int64 has no positive counterpart.
  const uint64_t size = us < 0 ? -static_cast<uint64_t>(us) : static_cast<uint64_t>(us);
  std::string out = (us < 0 ? "-" : "") + shortest_text(size / 1'000'000);
  if (size % 1'000'000 == 0) return out;
  // A leading 1 keeps the zeros after the point.
  out += '.' + shortest_text(1'000'000 + size % 1'000'000).substr(1);
  return out.substr(0, out.find_last_not_of('0') + 1);
}

std::optional<int64_t> parse_seconds_us(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  std::string digits(take_digits(text));
  int64_t places = static_cast<int64_t>(digits.size()) + 6;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    digits += take_digits(text);
  }
  if (digits.empty()) return std::nullopt;
  if (text.starts_with('e') || text.starts_with('E')) {
    text.remove_prefix(1);
    if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
    const auto exponent = parse_number<int32_t>(text);
    if (!exponent) return std::nullopt;
    places += *exponent;
  } else if (!text.empty()) {
    return std::nullopt;
  }
  const auto us = whole(digits, places);
  return us && negative ? -*us : us;
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

}  // namespace yard
