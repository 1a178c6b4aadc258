// Notices that a training has come apart: figures that are not finite, or that stay where no
// training comes back from.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "agents/train_config.h"

namespace yard {

struct Divergence {
  // In a row: a single update may be far off, the first ones of a critic always are.
  static constexpr int kUpdates = 3;

  int kl = 0, explained_variance = 0;  // updates in a row beyond the limit

  // Returns why training should stop, empty: it should not. `explained`: nothing without a critic.
  std::string look(const TrainConfig& config, double approx_kl, const double* explained);

  NLOHMANN_DEFINE_TYPE_INTRUSIVE(Divergence, kl, explained_variance)
};

}  // namespace yard
