// Returns the message of a nlohmann-json exception without its prefix, such as
// "[json.exception.out_of_range.403] ".
#pragma once

#include <exception>
#include <string>

namespace yard {

inline std::string json_error_text(const std::exception& error) {
  const std::string text = error.what();
  const size_t mark = text.starts_with("[json.exception.") ? text.find("] ") : std::string::npos;
  return mark == std::string::npos ? text : text.substr(mark + 2);
}

}  // namespace yard
