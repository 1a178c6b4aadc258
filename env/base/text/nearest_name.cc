#include "env/base/text/nearest_name.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <numeric>
#include <utility>

#include "env/base/text/text.h"

namespace yard {
namespace {

// Returns the Damerau-Levenshtein distance (optimal string alignment).
size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> above, before, row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    above = std::exchange(before, row);
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] =
          std::min({before[j] + 1, row[j - 1] + 1, before[j - 1] + (a[i - 1] != b[j - 1] ? 1 : 0)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], above[j - 2] + 1);
      }
    }
  }
  return row.back();
}

// Returns whether `name` is an irregular plural of `typed`: "policies" for "policy".
bool is_plural(std::string_view name, std::string_view typed) {
  return typed.ends_with('y') && name.ends_with("ies") &&
         name.substr(0, name.size() - 3) == typed.substr(0, typed.size() - 1);
}

}  // namespace

std::string normalised_name(std::string_view name) {
  std::string out;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0) out += static_cast<char>(std::tolower(byte));
  }
  return out;
}

bool is_probable_typo(std::string_view a, std::string_view b) {
  const size_t longer = std::max(a.size(), b.size());
  const size_t most = longer < 3 ? 0 : longer < 5 ? 1 : longer < 9 ? 2 : 3;
  return !a.empty() && !b.empty() && distance(a, b) <= most;
}

std::optional<std::string> nearest_name(std::string_view typed,
                                        const std::vector<std::string>& names) {
  const std::string plain = normalised_name(typed);
  const std::string* best = nullptr;
  size_t least = 0;
  for (const std::string& name : names) {
    const std::string other = normalised_name(name);
    if (!is_probable_typo(plain, other) && !is_plural(other, plain)) continue;
    const size_t far = distance(plain, other);
    if (best != nullptr && far >= least) continue;
    best = &name;
    least = far;
  }
  return best == nullptr ? std::nullopt : std::optional(*best);
}

std::string did_you_mean(std::string_view typed, const std::vector<std::string>& names) {
  const auto meant = nearest_name(typed, names);
  return meant ? "; did you mean `" + *meant + "`?" : "";
}

InputError unknown_name(const std::string& where, const std::vector<std::string>& names,
                        std::string_view typed, const std::string& hint) {
  const std::string near = did_you_mean(typed, names);
  return {where, "one of: " + join(names),
          "'" + std::string(typed) + "'" + (near.empty() ? hint : near)};
}

}  // namespace yard
