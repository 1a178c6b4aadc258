#include <algorithm>

#include "env/base/core/error.h"
#include "env/sim/rulesets/tiresias.h"

namespace yard {

YarnPlacer::YarnPlacer(const SpecColumns& spec) : node_gpus_(spec.max_node_gpus) {
  std::vector<int32_t> racks;
  for (int32_t m = 0; m < spec.num_nodes; ++m) {
    if (spec.node_gpus[m] != node_gpus_) {
      throw InputError("cluster", "nodes of equal size, as required by placement yarn",
                       std::to_string(spec.node_gpus[m]) + " GPUs at node " + std::to_string(m) +
                           ", " + std::to_string(node_gpus_) + " elsewhere");
    }
    const auto known = std::find(racks.begin(), racks.end(), spec.node_rack[m]);
    const auto rack = static_cast<size_t>(known - racks.begin());
    if (known == racks.end()) {
      racks.push_back(spec.node_rack[m]);
      switches_.emplace_back();
    }
    switches_[rack].push_back(m);
  }
}

int32_t YarnPlacer::place(const int32_t* free, int32_t gpus, Piece* out) const {
  for (const std::vector<int32_t>& nodes : switches_) {
    if (gpus > node_gpus_) {
      const int32_t n = span(nodes, free, gpus, out);
      if (n > 0) return n;
      continue;
    }
    for (const int32_t m : nodes) {
      if (free[m] < gpus) continue;
      *out = {m, gpus};
      return 1;
    }
  }
  return 0;
}

int32_t YarnPlacer::span(const std::vector<int32_t>& nodes, const int32_t* free, int32_t gpus,
                         Piece* out) const {
  const int32_t whole = gpus / node_gpus_, rest = gpus % node_gpus_;
  int32_t n = 0;
  for (size_t i = 0; i < nodes.size() && n < whole; ++i) {
    if (free[nodes[i]] == node_gpus_) out[n++] = {nodes[i], node_gpus_};
  }
  if (n < whole) return 0;
  if (rest == 0) return n;
  for (const int32_t m : nodes) {
    const bool taken = free[m] == node_gpus_ && m <= out[whole - 1].node;
    if (taken || free[m] < rest) continue;
    out[n] = {m, rest};
    return n + 1;
  }
  return 0;
}

}  // namespace yard
