#include "experiments/train/search_space.h"

#include <fmt/format.h>

#include <cmath>

#include "env/base/core/error.h"
#include "env/base/text/text.h"

namespace yard {

SearchSpace::SearchSpace(const Settings& settings, const std::string& prefix) {
  for (const Setting& s : settings.entries()) {
    if (!s.key.starts_with(prefix)) continue;
    const size_t dot = s.key.rfind('.');
    Dimension d;
    if (dot >= prefix.size()) {
      d.key = s.key.substr(prefix.size(), dot - prefix.size());
      d.kind = s.key.substr(dot + 1);
    }
    d.origin = s.origin;
    const bool choice = d.kind == "choice";
    if (!choice && d.kind != "log" && d.kind != "uniform" && d.kind != "integer") {
      throw InputError(s.origin,
                       s.key.substr(prefix.size()) + ": {log|uniform|integer|choice: [...]}",
                       "'" + s.value + "'");
    }
    for (const std::string_view value : split(s.value, ',')) d.values.emplace_back(trim(value));
    for (const Dimension& other : dimensions_) {
      if (other.key == d.key) throw InputError(s.origin, "one distribution for " + d.key, "two");
    }
    if (!choice) {
      const auto low = parse_double(d.values.front());
      const auto high = parse_double(d.values.back());
      const bool fits =
          d.values.size() == 2 && low && high && *low <= *high && (d.kind != "log" || *low > 0) &&
          (d.kind != "integer" ||
           (*low == std::floor(*low) && *high == std::floor(*high) && *high - *low < 1e9));
      if (!fits) {
        throw InputError(
            s.origin,
            d.key + ": " + d.kind + " of [min, max]" + (d.kind == "log" ? " above 0" : ""),
            "'" + s.value + "'");
      }
      d.low = *low;
      d.high = *high;
    } else if (trim(s.value).empty()) {
      throw InputError(s.origin, d.key + ": choice of at least one value", "none");
    }
    dimensions_.push_back(std::move(d));
  }
  if (dimensions_.empty()) throw InputError("space", "at least one setting to search", "none");
}

Settings SearchSpace::draw(Rng rng) const {
  Settings out;
  for (const Dimension& d : dimensions_) {
    std::string value;
    if (d.kind == "choice") {
      value = d.values[rng.below(static_cast<uint32_t>(d.values.size()))];
    } else if (d.kind == "integer") {
      value = fmt::format(
          "{}", std::llround(d.low) + rng.below(static_cast<uint32_t>(d.high - d.low) + 1));
    } else if (d.kind == "log") {
      value = fmt::format("{:.4g}",
                          std::exp(std::log(d.low) + rng.uniform() * std::log(d.high / d.low)));
    } else {
      value = fmt::format("{:.4g}", d.low + rng.uniform() * (d.high - d.low));
    }
    out.set(d.key, value, d.origin);
  }
  return out;
}

}  // namespace yard
