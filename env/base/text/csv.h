// Writes CSV cells according to RFC 4180.
#pragma once

#include <string>
#include <string_view>

namespace yard {

// Appends a CSV cell to `out`, quoted if necessary.
inline void append_csv_cell(std::string_view cell, std::string& out) {
  if (cell.find_first_of(",\"\r\n") == cell.npos) {
    out += cell;
    return;
  }
  out += '"';
  for (const char c : cell) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

}  // namespace yard
