// Converts text to values and back, independently of the locale. A number must fill the whole text.
#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace yard {

// Returns the parts of `text` between separators, including empty parts. An empty text is one empty
// part. The parts point into `text`.
std::vector<std::string_view> split(std::string_view text, char separator);
template <std::same_as<std::string> Temporary>
std::vector<std::string_view> split(Temporary&& text, char separator) = delete;

std::string join(const std::vector<std::string>& parts, std::string_view separator = ", ");

// Returns `text` without white space at both ends.
std::string_view trim(std::string_view text);
inline std::string in_quotes(std::string_view text) { return "'" + std::string(text) + "'"; }

// Parses the whole text as a T. Returns nothing if it is invalid; '+' and white space are invalid.
template <class T>
std::optional<T> parse_number(std::string_view text) {
  T value{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

std::optional<int64_t> parse_int(std::string_view text);

// Parses a finite number in decimal or scientific notation; rejects "inf" and "nan".
std::optional<double> parse_double(std::string_view text);

// Returns the shortest text which parse_number() converts back to `value`.
template <class T>
std::string shortest_text(T value) {
  char buffer[32];
  return std::string(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
}

// Formats microseconds as exact seconds without trailing zeros: "12", "-0.5", "0.000001".
std::string format_seconds(int64_t us);

// Parses seconds in decimal or scientific notation to exact microseconds. Digits beyond
// microseconds are rounded to nearest, halves away from zero.
std::optional<int64_t> parse_seconds_us(std::string_view text);

// Returns `text` with ASCII letters in lower case and all other bytes unchanged.
std::string lower_case(std::string_view text);

}  // namespace yard
