// A table of measurements: columns with names, and numbers of which every one must be usable. What
// is not is an InputError with file, line and column.
//
//   Cells cells(lines);
//   const int step = cells.column("step_time");
//   while (cells.next()) use(cells.positive(step));
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "env/base/lines.h"

namespace yard {

class Cells {
 public:
  // Beyond these a figure is a slip of the pen, and what is computed from it no number.
  static constexpr double kLeast = 1e-18, kMost = 1e18;
  static constexpr int32_t kMostGpus = 1 << 16;

  // The first line names the columns, each once. `lines` outlives this.
  explicit Cells(Lines& lines);

  // Throws InputError where there is no such column.
  int column(std::string_view name) const;
  const std::vector<std::string>& columns() const { return columns_; }

  // Goes to the next row; empty lines are passed over. Each row has as many fields as there are
  // columns.
  bool next();

  // Of the present row.
  std::string_view text(int column) const { return fields_[static_cast<size_t>(column)]; }
  double positive(int column) const;                 // kLeast to kMost
  double not_negative(int column) const;             // the same, or 0
  int32_t count(int column) const;                   // 1 to kMostGpus
  std::vector<int32_t> placement(int column) const;  // "1112": GPUs on each of four nodes
  [[noreturn]] void refuse(int column, const std::string& expected) const;

 private:
  Lines* lines_;
  std::vector<std::string> columns_;
  std::string_view row_;
  std::vector<std::string_view> fields_;
};

}  // namespace yard
