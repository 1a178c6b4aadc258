// A network of any kind far from where it begins, and decisions to ask it about.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "agents/networks/network.h"
#include "tests/support/checkpoints.h"

namespace yard::testing {

// Every parameter away from where it starts, the last layers too.
inline std::unique_ptr<Network> stirred_net(const std::string& name) {
  auto net = make_network(name, {}, kDispatchShape, 5);
  torch::NoGradGuard no_grad;
  for (auto& p : net->parameters()) p.add_(torch::randn_like(p) * 0.1);
  return net;
}

// None, one and all of the rows among them.
inline std::vector<GoldenState> random_states() {
  std::vector<GoldenState> out;
  for (const int32_t rows : {3, 0, 128, 1, 40, 77}) {
    out.push_back(random_state(rows, Rng{21}.split(static_cast<uint64_t>(rows))));
  }
  return out;
}

}  // namespace yard::testing
