// sacct's columns: how they are spelled, and what a field of each can hold.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace yard {

// Returns sacct's spelling of a column whatever the case of `name`; empty where it has none.
std::string_view sacct_column(std::string_view name);

// Returns whether a field of this column can be `text`. Columns that are not known hold any text.
bool sacct_field_fits(std::string_view column, std::string_view text);

// Returns whether the column holds free text, or is not known.
bool is_sacct_text(std::string_view column);

// Returns every way to read the parts of a row as its fields, at most `most` of them: each field is
// one part, or several of them with the delimiters between. A way is the index of the part behind
// each field.
using Reading = std::vector<size_t>;
std::vector<Reading> sacct_readings(const std::vector<std::string>& columns,
                                    const std::vector<std::string_view>& parts, size_t most);

// The field that parts [first, end) make up. The parts follow each other in one text.
std::string_view joined(const std::vector<std::string_view>& parts, size_t first, size_t end);

}  // namespace yard
