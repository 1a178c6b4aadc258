// The columns of sacct's output: their spelling, and which texts a field of each can hold.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace yard {

// Returns sacct's spelling of a column, ignoring case; empty if sacct has no such column.
std::string_view canonical_sacct_column(std::string_view name);

// Returns whether `text` can be a field of a column of sacct. Unknown columns accept any text.
bool sacct_field_fits(std::string_view column, std::string_view text);

// Returns whether a column of sacct holds free text or is unknown.
bool is_free_text_column(std::string_view column);

// Returns at most `most` ways to read the parts of a row as its fields. A field is one part, or
// several with the delimiters between them. A Reading holds, for each field, the index after the
// field's last part.
using Reading = std::vector<size_t>;
std::vector<Reading> possible_field_splits(const std::vector<std::string>& columns,
                                           const std::vector<std::string_view>& parts, size_t most);

// Returns the field made of parts [first, end). Requires: the parts are adjacent in one text.
std::string_view join_adjacent(const std::vector<std::string_view>& parts, size_t first,
                               size_t end);

}  // namespace yard
