// Text for an HTML page: escaping and number formats.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace yard::report {

// Escapes text for use between tags and inside quoted attributes. Replaces control characters,
// which XML forbids, by blanks and bytes that are not UTF-8 by U+FFFD.
std::string escape(std::string_view text);

inline constexpr std::string_view kAbsent = "–";

// "12,345.6" with `decimals` digits after the point; kAbsent if absent or not finite.
std::string number_text(std::optional<double> value, int decimals);

// A key as a title: "validation/mean_jct_s" becomes "Validation: mean JCT, s".
std::string key_title(const std::string& key);

// "12 s", "3.5 min", "2.1 h", "4 d", with about three significant digits.
std::string duration_text(double seconds);

// A number on an axis with ticks `step` apart: "0.25", "1,500", "2e-05".
std::string tick_text(double value, double step);

// A section with a heading; empty if `content` is empty.
std::string section(const std::string& heading, const std::string& content);

// A list of names and values; entries without a value are skipped.
std::string facts(const std::vector<std::pair<std::string, std::string>>& what);

}  // namespace yard::report
