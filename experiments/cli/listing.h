// Formats what `list` prints about one registered item: its row, and its settings with defaults,
// ranges and help texts.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "env/base/config/settings.h"

namespace yard {

nlohmann::ordered_json settings_json(const std::vector<Field>& fields);

// Returns the row called `name`. If there is none, throws InputError with the names of all rows.
nlohmann::ordered_json listed_row(const std::string& kind, const nlohmann::ordered_json& rows,
                                  const std::string& name);

std::string listing_text(const std::string& kind, const nlohmann::ordered_json& row);

}  // namespace yard
