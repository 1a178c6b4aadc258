// Reads and writes metrics.csv: a header and one row per step. Missing values are empty cells.
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
  // Reads an existing file, except for a truncated last row. Throws InputError if a row is invalid.
  explicit MetricsCsv(const std::filesystem::path& path);

  // Adds a row. Rewrites the whole file if a column is new. Requires: increasing steps.
  void add(int64_t step, const std::vector<std::pair<std::string, double>>& values);
  void drop_after(int64_t step);

  const std::vector<std::string>& columns() const { return columns_; }  // first column: "step"
  size_t rows() const { return rows_.size(); }
  int64_t step(size_t row) const { return rows_[row].step; }
  // Returns a cell's value; no value if the cell is empty or not a finite number.
  std::optional<double> value(size_t row, size_t column) const;

 private:
  struct Row {
    int64_t step;
    std::vector<std::string> cells;  // cells after the step; last cells may be missing
  };
  std::string line_of(const Row& row) const;
  void rewrite();

  std::filesystem::path path_;
  std::vector<std::string> columns_ = {"step"};
  std::vector<Row> rows_;
  std::optional<AppendFile> file_;
};

}  // namespace yard
