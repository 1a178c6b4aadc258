#include "agents/verify/torch_difference.h"

#include <algorithm>

#include "agents/train/collector.h"
#include "policies/learned/learned_policy.h"

namespace yard {

double torch_difference_from_golden(const Checkpoint& checkpoint) {
  const std::string where = "model.safetensors";
  const ObservationShape shape = make_agent(checkpoint.agent, {})->shape();
  const auto network =
      make_network(checkpoint.network, network_of(checkpoint, where)->settings(), shape, 0);
  network->import_policy(checkpoint.weights, where);
  double most = 0;
  for (GoldenState& g : unpack_golden(checkpoint.golden, shape, "golden.safetensors")) {
    most = std::max(most, g.max_logit_difference(logits_of(*network, shape, g)));
  }
  return most;
}

}  // namespace yard
