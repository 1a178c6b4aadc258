// A CSV table of measurements with named columns. Every number must be usable; otherwise the reader
// throws InputError with file, line and column.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "env/base/files/lines.h"

namespace yard {

class MeasurementTable {
 public:
  // Numbers outside this range are taken for typing errors, since results could overflow.
  static constexpr double kMin = 1e-18, kMax = 1e18;
  static constexpr int32_t kMaxGpus = 1 << 16;

  // The first line names the columns, each once; else throws InputError. `lines` must outlive this.
  explicit MeasurementTable(Lines& lines);

  // Returns the index of a column. Throws InputError if there is no such column.
  int column(std::string_view name) const;
  const std::vector<std::string>& columns() const { return columns_; }

  // Moves to the next row and skips empty lines. Returns false at the end. Throws InputError if the
  // number of fields is not the number of columns.
  bool next();

  // Values of the current row. Each throws InputError if the field holds none.
  std::string_view text(int column) const { return fields_[static_cast<size_t>(column)]; }
  double positive(int column) const { return number(column, false); }     // kMin to kMax
  double not_negative(int column) const { return number(column, true); }  // 0, or kMin to kMax
  int32_t count(int column) const;                                        // 1 to kMaxGpus
  std::vector<int32_t> placement(int column) const;  // "1112": GPUs on each of four nodes
  [[noreturn]] void refuse(int column, const std::string& expected) const;

 private:
  double number(int column, bool may_be_0) const;

  Lines* lines_;
  std::vector<std::string> columns_;
  std::string_view row_;
  std::vector<std::string_view> fields_;
};

}  // namespace yard
