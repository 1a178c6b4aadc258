// Splits sacct's output into rows. Since sacct escapes nothing, free text (JobName, WorkDir,
// SubmitLine, Comment) may hold the delimiter and line breaks. The known values of other columns
// show where free text ends. A row that can be read in two ways is rejected.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "env/trace/core/rows.h"

namespace yard {

// The line of column names of sacct's output.
struct SacctHeader {
  std::string delimiter;
  std::vector<std::string> columns;  // column names in sacct's spelling; the last may be empty
  bool known = false;                // the line has enough of sacct's columns to be sacct's output
  bool quoted = false;               // column names are in quotes, so that fields may be quoted
  bool indexed = false;              // the first column has no name, as pandas writes its index

  // Returns whether a spreadsheet or pandas wrote the table, so that 1.0 may be the number 1.
  bool is_from_spreadsheet() const {
    return quoted || indexed || delimiter == "," || delimiter == ";" || delimiter == "\t";
  }
};

// Returns nothing if `line` is not a list of column names with one delimiter between them.
std::optional<SacctHeader> read_sacct_header(std::string_view line);

// How a file that sacct wrote differs from the output of --parsable2, judging by its first lines.
enum class SacctFlaw { kNone, kNoHeader, kFixedWidth };
SacctFlaw sacct_flaw(std::string_view first_line, std::string_view second_line);

class SacctLines {
 public:
  // `rows` gives whole lines and must outlive this object. A row that can be split into columns in
  // several ways is accepted if all ways agree in the columns `used`.
  SacctLines(Rows& rows, SacctHeader header, const std::vector<std::string>& used);

  // Moves to the next row and sets `rows` to its first line. Returns false at the end of the file.
  // Counts ambiguous rows as unusable. Results of fields() are valid until next() is called again.
  bool next();
  const std::vector<std::string_view>& fields() const { return fields_; }

 private:
  struct Line {
    std::string text;
    int32_t number = 0;
  };

  bool next_row();  // next row of the file; skips repeated lines of column names
  std::string_view row() const;
  bool next_line(Line& line);
  const Line* peek();
  bool begins_row(std::string_view line) const;
  bool is_row(std::string_view line) const;
  bool split_csv(const std::string& line);
  void refuse_row(const std::string& record);

  Rows& rows_;
  SacctHeader header_;
  std::string names_;  // the line of column names, as in the file
  std::vector<bool> used_;
  std::optional<size_t> id_;  // index of the column JobID, if it is the first
  bool ends_in_text_ = false;
  std::deque<Line> ahead_;
  std::string record_, unquoted_;
  std::vector<std::string_view> fields_;
};

}  // namespace yard
