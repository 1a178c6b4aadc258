#include "agents/torch_difference.h"

#include <algorithm>
#include <cmath>

#include "agents/collector.h"
#include "policies/learned/learned_agent.h"

namespace yard {

double torch_difference(const Checkpoint& checkpoint) {
  const std::string where = "model.safetensors";
  const TaskShape shape = learned_agent(checkpoint.agent)->shape();
  const auto network =
      make_network(checkpoint.network, network_of(checkpoint, where)->settings(), shape, 0);
  network->import_policy(checkpoint.weights, where);
  double most = 0;
  for (GoldenState& g : unpack_golden(checkpoint.golden, shape, "golden.safetensors")) {
    const std::vector<float> logits = logits_of(*network, shape, g);
    for (size_t a = 0; a < logits.size(); ++a) {
      if (g.mask[a]) most = std::max<double>(most, std::abs(logits[a] - g.logits[a]));
    }
  }
  return most;
}

}  // namespace yard
