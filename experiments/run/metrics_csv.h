// Reads and writes metrics.csv: a header, then one row per step. Missing values are empty cells.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "experiments/run/append_file.h"

namespace yard {

class MetricsCsv {
 public:
  // Reads an existing file and ignores a truncated last row. Throws InputError if the file is not a
  // metrics.csv.
  explicit MetricsCsv(const std::filesystem::path& path);

  // Rewrites the whole file if a column is added. Requires: increasing steps.
  void add(int64_t step, const std::vector<std::pair<std::string, double>>& values);
  void drop_after(int64_t step);

  const std::vector<std::string>& columns() const { return columns_; }  // the first is "step"
  size_t rows() const { return rows_.size(); }
  int64_t step(size_t row) const { return rows_[row].step; }
  // Returns nothing for an empty cell or one that is not a finite number.
  std::optional<double> value(size_t row, size_t column) const;

 private:
  struct Row {
    int64_t step;
    std::vector<std::string> cells;  // after the step; may be fewer than the columns
  };
  std::string line_of(const Row& row) const;
  void rewrite();

  std::filesystem::path path_;
  std::vector<std::string> columns_ = {"step"};
  std::vector<Row> rows_;
  std::optional<AppendFile> file_;
};

}  // namespace yard
