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

std::string RowTaskAdapter::Config::text() const {
  std::string out = task->feature_schema() + "\n";
  for (const auto& [key, value] : task->settings()) out += key + "=" + value + "\n";
  return out;
}

void RowTask::write_prior(Observation& out, double gap) const {
  if (out.prior == nullptr) return;
  for (int32_t a = 0; a < shape().actions(); ++a) {
    const float behind = a == out.expert_action ? 0 : -static_cast<float>(gap);
    out.prior[a] = out.mask[a] == 0 ? kMaskedLogit : behind;
  }
}

}  // namespace yard
