#include "env/task/row_task.h"

#include <algorithm>

namespace yard {

void RowTask::clear_rest(Observation& out, int32_t rows) const {
  const int64_t features = shape().row_features;
  if (out.filled > rows) {
    std::fill_n(out.jobs + rows * features, (out.filled - rows) * features, 0.0F);
  }
  out.rows = out.filled = rows;
}

std::string RowPlay::Config::text() const {
  std::string out = task->feature_schema() + "\n";
  for (const auto& [key, value] : task->settings()) out += key + "=" + value + "\n";
  return out;
}

}  // namespace yard
