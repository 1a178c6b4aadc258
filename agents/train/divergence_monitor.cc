#include "agents/train/divergence_monitor.h"

#include <cmath>

#include "env/base/text/text.h"

namespace yard {

std::string DivergenceMonitor::reason_to_stop(const TrainConfig& config, double approx_kl,
                                              const double* explained) {
  const auto in_a_row = [](bool beyond, int& count) {
    count = beyond ? count + 1 : 0;
    return count >= kUpdates;
  };
  const std::string often = " for " + std::to_string(kUpdates) + " updates in a row, now ";
  if (explained != nullptr && !std::isfinite(*explained)) return "explained_variance is not finite";
  if (in_a_row(approx_kl > config.stop_kl, kl)) {
    return "approx_kl is above stop_kl = " + shortest_text(config.stop_kl) + often +
           shortest_text(approx_kl);
  }
  if (explained != nullptr &&
      in_a_row(*explained < config.stop_explained_variance, explained_variance)) {
    return "explained_variance is below stop_explained_variance = " +
           shortest_text(config.stop_explained_variance) + often + shortest_text(*explained);
  }
  return {};
}

}  // namespace yard
