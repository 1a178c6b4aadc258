// metrics.csv: a header, then a row a step; a value that a step does not have is an empty cell.
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
  // Reads what is there; a last row that a crash cut short is forgotten.
  // Throws InputError when it is no such file.
  explicit MetricsCsv(const std::filesystem::path& path);

  // A new column makes the file be written anew, as a whole. Requires: steps rise.
  void add(int64_t step, const std::vector<std::pair<std::string, double>>& values);
  void drop_after(int64_t step);

  const std::vector<std::string>& columns() const { return columns_; }  // the first is "step"
  size_t rows() const { return rows_.size(); }
  int64_t step(size_t row) const { return rows_[row].step; }
  // Nothing where the cell is empty or no finite number.
  std::optional<double> value(size_t row, size_t column) const;

 private:
  struct Row {
    int64_t step;
    std::vector<std::string> cells;  // behind the step; may be fewer than the columns
  };
  std::string line_of(const Row& row) const;
  void rewrite();

  std::filesystem::path path_;
  std::vector<std::string> columns_ = {"step"};
  std::vector<Row> rows_;
  std::optional<AppendFile> file_;
};

}  // namespace yard
