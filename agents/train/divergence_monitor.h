// Detects a diverged training: statistics that are not finite or stay beyond a limit.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "agents/train/train_config.h"

namespace yard {

struct DivergenceMonitor {
  // Training stops after this many consecutive updates beyond a limit. Single updates may exceed
  // limits.
  static constexpr int kUpdates = 3;

  int kl = 0, explained_variance = 0;  // number of consecutive updates beyond the limit

  // Returns why training should stop, or "". `explained` (variance) is null without a critic.
  std::string reason_to_stop(const TrainConfig& config, double approx_kl, const double* explained);

  NLOHMANN_DEFINE_TYPE_INTRUSIVE(DivergenceMonitor, kl, explained_variance)
};

}  // namespace yard
