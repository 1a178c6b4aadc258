// Cells of CSV as RFC 4180 has them.
#pragma once

#include <string>
#include <string_view>

namespace yard {

// Appends the cell, in quotes where it would not be read back without.
void append_csv_cell(std::string_view cell, std::string& out);

}  // namespace yard
