// Formats text for an HTML page: escaping, and number formats.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace yard::report {

// Escapes text for use between HTML tags and inside quoted attributes. Replaces control characters,
// which XML forbids, by blanks, and bytes that are not UTF-8 by U+FFFD.
std::string escape(std::string_view text);

inline constexpr std::string_view kAbsent = "–";

// Returns "12,345.6" with `decimals` digits after the point; kAbsent for no or no finite value.
std::string number_text(std::optional<double> value, int decimals);

// Returns a key as a title: "validation/mean_jct_s" becomes "Validation: mean JCT, s".
std::string key_title(const std::string& key);

// Returns "12 s", "3.5 min", "2.1 h" or "4 d", with about three significant digits.
std::string duration_text(double seconds);

// Returns the label of a tick, on an axis with ticks `step` apart: "0.25", "1,500", "2e-05".
std::string tick_text(double value, double step);

// Returns an HTML section with a heading; empty if `content` is empty.
std::string section(const std::string& heading, const std::string& content);

// Returns an HTML list of names and values; skips entries without a value.
std::string facts(const std::vector<std::pair<std::string, std::string>>& what);

}  // namespace yard::report
