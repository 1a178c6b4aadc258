// A line to its fields.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace yard {

// `separator` ' ' is any run of blanks; '\0': the line is one field. The fields point into `line`.
void split_line(std::string_view line, char separator, std::vector<std::string_view>& fields);

// Whether `text` ends within a field in double quotes (RFC 4180): the record goes on in the next
// line.
bool open_quotes(std::string_view text, char separator);

// The same for a record with quotes, which are taken off. The fields point into `record` or into
// `unquoted`, which this fills. Returns false where a closing quote is not the field's end.
bool split_quoted(std::string_view record, char separator, std::string& unquoted,
                  std::vector<std::string_view>& fields);

}  // namespace yard
