// The fitted model as a file: JSON, one line a thing, that people may read and change.
#pragma once

#include <string>

#include "env/trace/like.h"

namespace yard {

// Numbers are rounded to 8 digits: what is generated is generated from the text.
std::string to_text(const LikeModel& model);

// Throws InputError, with line and column in `name`: no JSON or YAML, a key that is missing,
// unknown or there twice, a value of another kind or out of range, parts that do not fit together.
LikeModel parse_like(const std::string& text, const std::string& name);

}  // namespace yard
