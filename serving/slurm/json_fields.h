// Reads fields of Slurm's JSON, whose form changes with the version: a number may be 4, "4", null
// or
// {"set": true, "infinite": false, "number": 4}, a text may be a list of texts.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace yard::slurm {

using Json = nlohmann::json;

// Returns nothing if the field is absent, null, not set, infinite or no finite number.
std::optional<double> number_of(const Json& record, const char* key);

// Returns `otherwise` where number_of() returns nothing, or if the number is outside of int's
// range.
int int_of(const Json& record, const char* key, int otherwise);

// Returns "" if the field is absent, null or of another type; a list is joined by commas.
std::string text_of(const Json& record, const char* key);

std::vector<std::string> texts_of(const Json& record, const char* key);

bool flag_of(const Json& record, const char* key);

}  // namespace yard::slurm
