// Parses a table's line of column names: finds the separator and renames columns on request.
//
//   Renames names = parse_renames("job_id=JobName,submit_s=arrival_time", "--columns");
//   char separator = separator_of("JobName;arrival_time;gpus");  // ';'
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace yard {

// Returns the line's most frequent separator (, ; | or tab) outside quotes; a comma by default.
char separator_of(std::string_view line);

// Returns the column names as views into `line`, without surrounding blanks and quotes.
std::vector<std::string_view> split_column_names(std::string_view line, char separator);

// Returns whether a name marks the column of row numbers that pandas writes as its index.
bool is_pandas_index_name(std::string_view name);

// Returns whether a cell's text stands for a missing value, as "", NaN, None and <NA> do.
bool is_missing(std::string_view cell);

// Pairs of names of a column: the name that a reader expects, and the name in the file.
using Renames = std::vector<std::pair<std::string, std::string>>;

// Parses "name=COLUMN,name=COLUMN"; a COLUMN that contains a comma must be in double quotes. Throws
// InputError, naming `where`, if `text` is malformed.
Renames parse_renames(std::string_view text, std::string_view where);

// Gives columns the names in `renames`. Any other column that already had such a name becomes
// nameless. Throws InputError, naming `where`, if a column of `renames` is missing.
void rename_columns(const Renames& renames, const std::string& where,
                    std::vector<std::string>& columns);

// Returns the column that most probably holds the field `name` ("submit_s"), or nothing if no
// column has a similar name.
std::optional<std::string> nearest_column(std::string_view name,
                                          const std::vector<std::string>& columns);

// Returns advice for missing columns: "did you mean the column `submit_time`? --columns
// submit_s=submit_time". Without a similar column, the advice explains --columns. `what` is "key"
// for JSON.
std::string missing_column_advice(const std::vector<std::string>& missing,
                                  const std::vector<std::string>& columns,
                                  const std::string& what = "column");

}  // namespace yard
