#include "experiments/run/metrics_csv.h"

#include <algorithm>

#include "env/base/core/check.h"
#include "env/base/core/error.h"
#include "env/base/files/file.h"
#include "env/base/text/text.h"

namespace yard {

MetricsCsv::MetricsCsv(const std::filesystem::path& path) : path_(path) {
  if (!std::filesystem::exists(path)) return;
  const std::string text = read_file(path);
  const std::string name = path.string();
  std::vector<std::string_view> lines = split(text, '\n');
  lines.pop_back();  // the part after the last newline: empty, or a truncated row
  if (lines.empty()) return;
  columns_.clear();
  for (const std::string_view column : split(lines[0], ',')) columns_.emplace_back(column);
  if (columns_[0] != "step") {
    throw InputError(name + ":1", "'step' as the first column", "'" + columns_[0] + "'");
  }
  for (size_t i = 1; i < lines.size(); ++i) {
    const std::vector<std::string_view> cells = split(lines[i], ',');
    const std::string where = name + ":" + std::to_string(i + 1);
    const auto step = parse_int(cells[0]);
    if (!step) throw InputError(where, "a step", "'" + std::string(cells[0]) + "'");
    if (cells.size() != columns_.size()) {
      throw InputError(where, std::to_string(columns_.size()) + " cells",
                       std::to_string(cells.size()));
    }
    rows_.push_back({*step, {cells.begin() + 1, cells.end()}});
  }
}

std::string MetricsCsv::line_of(const Row& row) const {
  std::string line = std::to_string(row.step);
  for (size_t c = 0; c + 1 < columns_.size(); ++c) {
    line += ',';
    if (c < row.cells.size()) line += row.cells[c];
  }
  return line + '\n';
}

void MetricsCsv::rewrite() {
  std::string text = join(columns_, ",") + '\n';
  for (const Row& row : rows_) text += line_of(row);
  file_.reset();
  write_file_atomic(path_, text);
  file_.emplace(path_);
}

void MetricsCsv::add(int64_t step, const std::vector<std::pair<std::string, double>>& values) {
  YARD_CHECK(rows_.empty() || step > rows_.back().step, "steps of metrics must increase");
  Row row{step, std::vector<std::string>(columns_.size() - 1)};
  bool added = false;
  for (const auto& [name, value] : values) {
    YARD_CHECK(!name.empty() && name != "step" && name.find_first_of(",\n\"") == name.npos,
               "a metric's name must be a plain column name: '" + name + "'");
    size_t at = static_cast<size_t>(std::ranges::find(columns_, name) - columns_.begin());
    if (at == columns_.size()) {
      columns_.push_back(name);
      row.cells.emplace_back();
      added = true;
    }
    row.cells[at - 1] = shortest_text(value);
  }
  rows_.push_back(std::move(row));
  if (added || !file_) return rewrite();  // an unopened file may end in a truncated row
  file_->write(line_of(rows_.back()));
}

void MetricsCsv::drop_after(int64_t step) {
  std::erase_if(rows_, [step](const Row& row) { return row.step > step; });
  rewrite();
}

std::optional<double> MetricsCsv::value(size_t row, size_t column) const {
  if (column == 0) return static_cast<double>(rows_[row].step);
  const std::vector<std::string>& cells = rows_[row].cells;
  if (column > cells.size()) return std::nullopt;
  return parse_double(cells[column - 1]);
}

}  // namespace yard
