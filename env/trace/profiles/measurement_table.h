// A CSV table of measurements with named columns. If a number in it cannot be used, the table
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
  // A number outside this range counts as a typing error, since results of it could overflow.
  static constexpr double kMin = 1e-18, kMax = 1e18;
  static constexpr int32_t kMaxGpus = 1 << 16;

  // Throws InputError unless line 1 names each column once. `lines` must outlive this object.
  explicit MeasurementTable(Lines& lines);

  // Returns the index of a column. Throws InputError if the table lacks the column.
  int column(std::string_view name) const;
  const std::vector<std::string>& columns() const { return columns_; }

  // Moves to the next row that is not empty, or returns false at the end of the file. Throws
  // InputError if the row does not have one field for each column.
  bool next();

  // Returns a value of the current row. Throws InputError if the field has no valid value.
  std::string_view text(int column) const { return fields_[static_cast<size_t>(column)]; }
  double positive_number(int column) const { return number(column, false); }  // kMin to kMax
  double nonnegative_number(int column) const {
    return number(column, true);
  }                                                  // 0, or in [kMin, kMax]
  int32_t count(int column) const;                   // 1 to kMaxGpus
  std::vector<int32_t> placement(int column) const;  // "1112": numbers of GPUs on four nodes
  [[noreturn]] void refuse(int column, const std::string& expected) const;

 private:
  double number(int column, bool may_be_0) const;

  Lines* lines_;
  std::vector<std::string> columns_;
  std::string_view row_;
  std::vector<std::string_view> fields_;
};

}  // namespace yard
