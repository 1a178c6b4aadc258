// Reads the line of column names: its separator, and names that the caller gives to columns.
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

// Returns the most frequent of , ; | and tab in the line, outside quotes; a comma if it has none.
char separator_of(std::string_view line);

// Returns the column names as views into `line`, without blanks and quotes around them.
std::vector<std::string_view> column_names(std::string_view line, char separator);

// Returns whether a column is a row number without a name, as pandas writes its index.
bool is_pandas_index_name(std::string_view name);

// Returns whether a cell is missing, as pandas, R or databases write it: "", NaN, None, <NA> ...
bool is_missing(std::string_view cell);

// Pairs of the name that a reader expects and the name in the file.
using Renames = std::vector<std::pair<std::string, std::string>>;

// Parses "name=COLUMN,name=COLUMN"; a column with a comma is in double quotes. Throws InputError
// naming `where`.
Renames parse_renames(std::string_view text, std::string_view where);

// Gives columns the names that the caller chose. Another column with a chosen name becomes
// nameless. Throws InputError, naming `where`, if a column is missing.
void rename_columns(const Renames& renames, const std::string& where,
                    std::vector<std::string>& columns);

// Returns the column that most probably means the field `name` ("submit_s"); nothing if none is
// similar.
std::optional<std::string> nearest_column(std::string_view name,
                                          const std::vector<std::string>& columns);

// Returns advice for missing columns: "did you mean the column `submit_time`? --columns
// submit_s=submit_time" (`what`: "key" for JSON). Without a guess, it is how to write --columns.
std::string column_advice(const std::vector<std::string>& missing,
                          const std::vector<std::string>& columns,
                          const std::string& what = "column");

}  // namespace yard
