// Stores a fitted model as JSON, one item per line, which people can read and edit.
#pragma once

#include <string>

#include "env/trace/fitted/workload_model.h"

namespace yard {

// Returns the model as text, rounded to 8 digits. Generation starts from this text.
std::string to_text(const WorkloadModel& model);

// Parses a model. Throws InputError, with line and column in `name`: no JSON or YAML, a key
// missing, unknown or repeated, a value of the wrong type or out of range, or inconsistent parts.
WorkloadModel parse_workload_model(const std::string& text, const std::string& name);

}  // namespace yard
