// The name that a user probably meant.
//
//   nearest_name("gredy", PolicyRegistry::names());  // "greedy"
//   throw unknown_name("--policy", {"fifo", "las"}, "fifi");
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "env/base/error.h"

namespace yard {

// Lower case, letters and digits alone: "Submit-Time" to "submittime".
std::string plain_name(std::string_view name);

// Whether one plain name is the other with a few letters wrong, missing or too many.
bool is_slip(std::string_view a, std::string_view b);

// The one of `names` that `typed` is a slip of; none where nothing is near.
std::optional<std::string> nearest_name(std::string_view typed,
                                        const std::vector<std::string>& names);

// "; did you mean `fifo`?", to be added to a message; empty where nothing is near.
std::string did_you_mean(std::string_view typed, const std::vector<std::string>& names);

// "WHERE: expected one of: a, b, got 'typed'; did you mean `a`?"
InputError unknown_name(const std::string& where, const std::vector<std::string>& names,
                        std::string_view typed);

// Throws that about a name which the registry lacks.
//   require_name<PolicyRegistry>("--policy", "gredy");
template <class Registry>
void require_name(const std::string& where, std::string_view typed) {
  if (!Registry::has(typed)) throw unknown_name(where, Registry::names(), typed);
}

}  // namespace yard
