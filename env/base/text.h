// Text to values and back, without locale: what is not wholly a number is none.
#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace yard {

// Returns the parts between separators, empty ones too; an empty text is one empty part.
// The parts point into `text`.
std::vector<std::string_view> split(std::string_view text, char separator);
template <std::same_as<std::string> Temporary>
std::vector<std::string_view> split(Temporary&& text, char separator) = delete;

std::string join(const std::vector<std::string>& parts, std::string_view separator = ", ");

// Without white space at both ends.
std::string_view trim(std::string_view text);

// The whole text as a T: no leading '+', no white space; nothing when it does not fit.
template <class T>
std::optional<T> parse_number(std::string_view text) {
  T value{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

std::optional<int64_t> parse_int(std::string_view text);

// Finite decimal or scientific notation; "inf" and "nan" are no numbers.
std::optional<double> parse_double(std::string_view text);

// Returns the shortest text of a number that parses back to the same bits.
template <class T>
std::string shortest(T value) {
  char buffer[32];
  return std::string(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
}

// Returns the exact seconds without needless digits: "12", "-0.5", "0.000001".
std::string format_seconds(int64_t us);

// Seconds in decimal or scientific notation to microseconds, exactly; digits beyond are rounded to
// the nearest, halves away from zero.
std::optional<int64_t> parse_seconds_us(std::string_view text);

// ASCII letters in lower case; other bytes stay.
std::string lower_case(std::string_view text);

}  // namespace yard
