// Splits a line into fields.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace yard {

// The separator ' ' stands for any run of blanks, '\0' for none. Fields are views into `line`.
void split_line(std::string_view line, char separator, std::vector<std::string_view>& fields);
inline std::vector<std::string_view> split_line(std::string_view line, char separator) {
  std::vector<std::string_view> fields;
  split_line(line, separator, fields);
  return fields;
}

// Returns whether `text` ends within a field in double quotes (RFC 4180), so that the record
// continues in the next line.
bool ends_inside_quotes(std::string_view text, char separator);

// Splits a record at its separators and removes quotes. Fields are views into `record`, or into
// `unquoted`, which the function fills. Returns false if a closing quote is missing or misplaced.
bool split_quoted(std::string_view record, char separator, std::string& unquoted,
                  std::vector<std::string_view>& fields);

}  // namespace yard
