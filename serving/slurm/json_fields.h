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

// Returns a number, or nothing if the field is absent, null, unset, infinite or not a number.
std::optional<double> number_of(const Json& record, const char* key);

// Returns a field as an integer, or `otherwise` if number_of() returns nothing or the number is out
// of range.
int int_of(const Json& record, const char* key, int otherwise);

// Returns a text, or "" if the field is absent, null or no text. List items are joined by commas.
std::string text_of(const Json& record, const char* key);

std::vector<std::string> texts_of(const Json& record, const char* key);

bool flag_of(const Json& record, const char* key);

}  // namespace yard::slurm
