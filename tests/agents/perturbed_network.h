// Networks with perturbed weights, and random states to evaluate them on.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "agents/networks/network.h"
#include "tests/support/checkpoints.h"
#include "tests/support/dispatcher.h"

namespace yard::testing {

// A network with noise on every parameter, those of the last layers included.
inline std::unique_ptr<Network> perturbed_network(const std::string& name) {
  auto net = make_network(name, {}, dispatcher::kShape, 5);
  torch::NoGradGuard no_grad;
  for (auto& p : net->parameters()) p.add_(torch::randn_like(p) * 0.1);
  return net;
}

// Random states, some of them without rows, with one row and with all 128.
inline std::vector<GoldenState> random_states() {
  std::vector<GoldenState> out;
  for (const int32_t rows : {3, 0, 128, 1, 40, 77}) {
    out.push_back(random_state(rows, Rng{21}.split(static_cast<uint64_t>(rows))));
  }
  return out;
}

}  // namespace yard::testing
