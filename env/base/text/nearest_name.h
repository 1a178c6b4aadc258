// Suggests the name that a user probably meant.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "env/base/core/error.h"

namespace yard {

// Returns the letters and digits of a name in lower case: "submittime" for "Submit-Time".
std::string normalised_name(std::string_view name);

// Returns whether a few letters changed, missing or added turn one normalised name into the other.
bool is_probable_typo(std::string_view a, std::string_view b);

// Returns the name that `typed` probably misspells; nothing if no name is near.
std::optional<std::string> nearest_name(std::string_view typed,
                                        const std::vector<std::string>& names);

// Returns "; did you mean `fifo`?" with the nearest name, or "" if no name is near `typed`.
std::string did_you_mean(std::string_view typed, const std::vector<std::string>& names);

// Returns an error "WHERE: expected one of: a, b, got 'typed'; did you mean `a`?". If no name is
// near, the message ends with `hint` instead.
InputError unknown_name(const std::string& where, const std::vector<std::string>& names,
                        std::string_view typed, const std::string& hint = "");

// Throws unknown_name() if the registry lacks the name `typed`.
//   require_registered_name<PolicyRegistry>("--policy", "gredy");
template <class Registry>
void require_registered_name(const std::string& where, std::string_view typed) {
  if (!Registry::has(typed)) throw unknown_name(where, Registry::names(), typed);
}

}  // namespace yard
