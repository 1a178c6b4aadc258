// Writes CSV cells according to RFC 4180.
#pragma once

#include <string>
#include <string_view>

namespace yard {

// Appends the cell, quoted if necessary.
void append_csv_cell(std::string_view cell, std::string& out);

}  // namespace yard
