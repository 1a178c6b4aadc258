// Option checks beyond those of CLI11, and defaults, for the commands that run policies.
#pragma once

#include "env/base/core/error.h"
#include "env/base/text/text.h"
#include "experiments/cli/common_options.h"

namespace yard::sim {

// Throws InputError with `option`, what was `expected` and what was `got`, unless `holds` is true.
inline void require_input(bool holds, const std::string& option, const std::string& expected,
                          const std::string& got) {
  if (!holds) throw InputError(option, expected, got);
}

// Throws InputError unless the option's value lies in [least, most].
template <class T>
void check_range(const char* option, T value, std::type_identity_t<T> least,
                 std::type_identity_t<T> most) {
  require_input(value >= least && value <= most, option,
                shortest_text(least) + " to " + shortest_text(most), shortest_text(value));
}

// Returns the values of --congestion, or one unset value if the option is not given.
inline std::vector<std::optional<double>> congestions_of(const CommonOptions& options) {
  if (options.congestions.empty()) return {std::nullopt};
  return {options.congestions.begin(), options.congestions.end()};
}

}  // namespace yard::sim
