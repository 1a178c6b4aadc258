// The line that names a table's columns: which separator it has, and what a caller calls them.
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

// The one of , ; | and tab that the line has most of, outside quotes; a comma where it has none.
char separator_of(std::string_view line);

// The names of the columns as views into `line`, without blanks and quotes around them.
std::vector<std::string_view> column_names(std::string_view line, char separator);

// Whether a column is only a row number, as pandas writes its index: it has no name of its own.
bool is_index_name(std::string_view name);

// A cell that says nothing, as pandas, R and databases write it: "", NaN, None, null, <NA>, NaT ...
bool is_missing(std::string_view cell);

// Pairs of the name that a reader looks for and the name that the file has instead.
using Renames = std::vector<std::pair<std::string, std::string>>;

// Reads "name=COLUMN,name=COLUMN". Throws InputError naming `where`.
Renames parse_renames(std::string_view text, std::string_view where);

// Gives the columns the names that the caller chose; a column that had the name already loses it.
// Throws InputError, naming `where`, about a column that is not there.
void rename_columns(const Renames& renames, const std::string& where,
                    std::vector<std::string>& columns);

// The column that most probably says what the own column `name` ("submit_s") says; none where
// nothing is near.
std::optional<std::string> nearest_column(std::string_view name,
                                          const std::vector<std::string>& columns);

// What to write where own columns are missing: "did you mean the column `submit_time`? --columns
// submit_s=submit_time" (`what`: "key" of JSON); without a guess, how --columns is written.
std::string column_advice(const std::vector<std::string>& missing,
                          const std::vector<std::string>& columns,
                          const std::string& what = "column");

}  // namespace yard
