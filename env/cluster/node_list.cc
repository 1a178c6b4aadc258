#include "env/cluster/node_list.h"

#include <algorithm>

#include "env/base/core/error.h"
#include "env/base/text/text.h"

namespace yard {

NodeRows::NodeRows(std::string_view text, const std::string& name,
                   const std::vector<std::string>& columns, bool header)
    : rest_(text), name_(name), columns_(columns), width_(columns.size()) {
  for (size_t i = 0; i < columns.size(); ++i) at_.push_back(static_cast<int>(i));
  if (!header) return;
  next_line();
  for (size_t i = 0; i < columns.size(); ++i) {
    const auto it = std::ranges::find(fields_, columns[i]);
    if (it == fields_.end()) {
      throw InputError(name_ + ":1:1", "the columns " + join(columns),
                       "'" + std::string(line_.substr(0, 200)) + "'");
    }
    at_[i] = static_cast<int>(it - fields_.begin());
  }
  width_ = fields_.size();
}

bool NodeRows::next_line() {
  if (rest_.empty()) return false;
  const size_t end = std::min(rest_.find('\n'), rest_.size());
  line_ = rest_.substr(0, end);
  rest_.remove_prefix(std::min(end + 1, rest_.size()));
  if (line_.ends_with('\r')) line_.remove_suffix(1);
  ++number_;
  fields_ = split(line_, ',');
  return true;
}

bool NodeRows::next() {
  do {
    if (!next_line()) return false;
  } while (line_.empty());
  if (fields_.size() == width_) return true;
  throw InputError(name_ + ":" + std::to_string(number_) + ":1", std::to_string(width_) + " fields",
                   std::to_string(fields_.size()));
}

void NodeRows::fail(int column, const std::string& expected) const {
  const std::string_view said = field(column);
  throw InputError(
      name_ + ":" + std::to_string(number_) + ":" + std::to_string(said.data() - line_.data() + 1),
      expected, "'" + std::string(said) + "'");
}

std::string NodeRows::non_empty_text(int column) const {
  if (field(column).empty()) fail(column, "a " + columns_[column]);
  return std::string(field(column));
}

int64_t NodeRows::integer(int column, int64_t lowest, int64_t highest) const {
  const auto value = parse_int(field(column));
  if (!value || *value < lowest || *value > highest) {
    fail(column, columns_[column] + " as a whole number from " + std::to_string(lowest) + " to " +
                     std::to_string(highest));
  }
  return *value;
}

}  // namespace yard
