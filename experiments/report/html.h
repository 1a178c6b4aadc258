// Text for a page: escaped, and numbers as people read them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace yard::report {

// Safe between tags and inside quoted attributes. Control characters, which XML forbids, are
// replaced.
std::string escape(std::string_view text);

inline constexpr std::string_view kAbsent = "–";

// "12,345.6": `decimals` digits behind the point. Absent or not finite: a dash.
std::string number_text(std::optional<double> value, int decimals);

// A key as a title: "validation/mean_jct_s" is "Validation: mean JCT, s".
std::string in_words(const std::string& key);

// "12 s", "3.5 min", "2.1 h", "4 d": at most three digits.
std::string duration_text(double seconds);

// A number of an axis whose neighbours are `step` away: "0.25", "1,500", "2e-05".
std::string tick_text(double value, double step);

// A line of names and values; what has no value is left out.
std::string facts(const std::vector<std::pair<std::string, std::string>>& what);

}  // namespace yard::report
