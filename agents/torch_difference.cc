#include "agents/torch_difference.h"

#include <algorithm>
#include <cmath>

#include "agents/collector.h"

namespace yard {

double torch_difference(const Checkpoint& checkpoint) {
  const WorldsShape shape{Dispatch::kJobs, Dispatch::kJobFeatures, Dispatch::kClusterFeatures};
  const auto network =
      make_network(checkpoint.network,
                   NetworkRegistry::info(checkpoint.network).fit(checkpoint.weights), shape, 0);
  network->import_policy(checkpoint.weights, "model.safetensors");
  double most = 0;
  for (GoldenState& g : unpack_golden(checkpoint.golden, "golden.safetensors")) {
    const std::vector<float> logits = logits_of(*network, shape, g);
    for (size_t a = 0; a < logits.size(); ++a) {
      if (g.mask[a]) most = std::max<double>(most, std::abs(logits[a] - g.logits[a]));
    }
  }
  return most;
}

}  // namespace yard
