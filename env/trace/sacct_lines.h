// The rows of what sacct printed. Nothing in it is escaped: a free text (JobName, WorkDir,
// SubmitLine, Comment) may hold the delimiter and line breaks. Where a free text begins and ends
// follows from the columns around it, since it is known what they can hold. A row that can be
// read in two ways is refused.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "env/trace/rows.h"

namespace yard {

// The line of column names.
struct SacctHeader {
  std::string delimiter;
  std::vector<std::string> columns;  // spelled as sacct spells them; the last may be empty
  bool known = false;                // names enough of sacct's columns, and hardly another format's
  bool quoted = false;               // names stand in quotes, so that fields may, too
  bool indexed = false;              // an unnamed column in front, as pandas writes its index

  // A table that a spreadsheet or pandas wrote, where 1.0 may be the number 1.
  bool is_table() const {
    return quoted || indexed || delimiter == "," || delimiter == ";" || delimiter == "\t";
  }
};

// Returns nothing where the line is no list of names with one delimiter between them.
std::optional<SacctHeader> read_sacct_header(std::string_view line);

// What the beginning of a file is that sacct printed, but not as --parsable2 does.
enum class SacctFlaw { kNone, kNoHeader, kFixedWidth };
SacctFlaw sacct_flaw(std::string_view first_line, std::string_view second_line);

class SacctLines {
 public:
  // `rows` gives whole lines, and outlives this. Rows may be read in two ways where they say the
  // same in the columns `used`.
  SacctLines(Rows& rows, SacctHeader header, const std::vector<std::string>& used);

  // Goes to the next row; `rows` is then at its first line. What fields() returns holds until
  // the next call. Rows that can be read in two ways are unusable.
  bool next();
  const std::vector<std::string_view>& fields() const { return fields_; }

 private:
  struct Line {
    std::string text;
    int32_t number = 0;
  };

  bool next_row();  // of the file, but for a line of column names once more
  std::string_view row() const;
  bool next_line(Line& line);
  const Line* peek();
  bool begins_row(std::string_view line) const;
  bool is_row(std::string_view line) const;
  bool split_csv(const std::string& line);
  void refuse(const std::string& record);

  Rows& rows_;
  SacctHeader header_;
  std::string names_;  // the line of column names, as it stands
  std::vector<bool> used_;
  std::optional<size_t> id_;  // the column JobID, where it is the first
  bool ends_in_text_ = false;
  std::deque<Line> ahead_;
  std::string record_, unquoted_;
  std::vector<std::string_view> fields_;
};

}  // namespace yard
