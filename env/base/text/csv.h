// Writes CSV cells according to RFC 4180.
#pragma once

#include <string>
#include <string_view>

namespace yard {

// Appends the cell, quoted if necessary.
inline void append_csv_cell(std::string_view cell, std::string& out) {
  const bool quoted = cell.find_first_of(",\"\r\n") != cell.npos;
  if (quoted) out += '"';
  for (const char c : cell) {
    if (c == '"') out += '"';
    out += c;
  }
  if (quoted) out += '"';
}

}  // namespace yard
