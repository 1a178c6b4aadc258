#include "env/trace/profiles/measurement_table.h"

#include <algorithm>

#include "env/base/core/error.h"
#include "env/base/text/text.h"

namespace yard {

MeasurementTable::MeasurementTable(Lines& lines) : lines_(&lines) {
  if (!lines.next(row_)) return;
  for (const std::string_view field : split(row_, ',')) {
    const std::string_view name = trim(field);
    if (std::find(columns_.begin(), columns_.end(), name) != columns_.end()) {
      throw InputError(lines.name() + ":1", "each column once",
                       "'" + std::string(name) + "' twice");
    }
    columns_.emplace_back(name);
  }
}

int MeasurementTable::column(std::string_view name) const {
  const auto it = std::find(columns_.begin(), columns_.end(), name);
  if (it == columns_.end()) {
    throw InputError(lines_->name() + ":1", "a column '" + std::string(name) + "'",
                     "'" + join(columns_, ",") + "'");
  }
  return static_cast<int>(it - columns_.begin());
}

bool MeasurementTable::next() {
  while (lines_->next(row_)) {
    if (trim(row_).empty()) continue;
    fields_ = split(row_, ',');
    if (fields_.size() != columns_.size()) {
      throw InputError(lines_->name() + ":" + std::to_string(lines_->line_number()),
                       std::to_string(columns_.size()) + " fields", std::to_string(fields_.size()));
    }
    for (std::string_view& field : fields_) field = trim(field);
    return true;
  }
  return false;
}

void MeasurementTable::refuse(int column, const std::string& expected) const {
  const std::string_view field = text(column);
  const auto offset = field.data() - row_.data() + 1;
  throw InputError(
      lines_->name() + ":" + std::to_string(lines_->line_number()) + ":" + std::to_string(offset),
      expected, "'" + std::string(field) + "'");
}

double MeasurementTable::number(int column, bool may_be_0) const {
  const auto number = parse_double(text(column));
  if (number && may_be_0 && *number == 0) return *number;
  if (number && *number >= kMin && *number <= kMax) return *number;
  refuse(column, columns_[static_cast<size_t>(column)] + (may_be_0 ? ", 0 or" : ",") +
                     " a number from " + shortest_text(kMin) + " to " + shortest_text(kMax));
}

int32_t MeasurementTable::count(int column) const {
  const auto number = parse_number<int32_t>(text(column));
  const std::string& name = columns_[static_cast<size_t>(column)];
  if (!number || *number < 1 || *number > kMaxGpus) {
    refuse(column, name + ", a whole number from 1 to " + std::to_string(kMaxGpus));
  }
  return *number;
}

std::vector<int32_t> MeasurementTable::placement(int column) const {
  std::vector<int32_t> node_gpus;
  for (const char c : text(column)) {
    if (c < '1' || c > '9') refuse(column, "a placement: one digit from 1 to 9 per node");
    node_gpus.push_back(c - '0');
  }
  if (node_gpus.empty()) refuse(column, "a placement: one digit from 1 to 9 per node");
  return node_gpus;
}

}  // namespace yard
