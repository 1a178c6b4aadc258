#pragma once

#include <cstddef>
#include <string_view>

namespace yard {

// Returns the length in bytes of the UTF-8 character (RFC 3629) at the start of `text`; 0 if the
// character is invalid. Requires: `text` is not empty.
size_t utf8_character_length(std::string_view text);

}  // namespace yard
