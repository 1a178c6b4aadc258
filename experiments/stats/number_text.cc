#include "experiments/stats/number_text.h"

#include <fmt/format.h>

#include <cmath>

namespace yard {

std::string fixed_text(double value, int decimals) {
  if (!std::isfinite(value)) return "";
  std::string text = fmt::format("{:.{}f}", value, decimals);
  const bool zero = text.find_first_not_of("-0.") == text.npos;
  return zero && text.starts_with('-') ? text.substr(1) : text;
}

std::string pluralised_count_text(int64_t count, const std::string& one) {
  return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

}  // namespace yard
