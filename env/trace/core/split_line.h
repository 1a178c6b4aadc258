// Splits a line into fields.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace yard {

// `separator` ' ': any run of blanks; '\0': the line is one field. Fields are views into `line`.
void split_line(std::string_view line, char separator, std::vector<std::string_view>& fields);
inline std::vector<std::string_view> split_line(std::string_view line, char separator) {
  std::vector<std::string_view> fields;
  split_line(line, separator, fields);
  return fields;
}

// Returns whether `text` ends within a field in double quotes (RFC 4180), so that the record
// continues in the next line.
bool ends_inside_quotes(std::string_view text, char separator);

// Splits a record with quotes and removes them. Fields are views into `record` or `unquoted`, which
// this fills. Returns false if a closing quote is missing or not at the end of its field.
bool split_quoted(std::string_view record, char separator, std::string& unquoted,
                  std::vector<std::string_view>& fields);

}  // namespace yard
