#include "env/cluster/scale.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "env/base/core/error.h"
#include "env/base/text/text.h"

namespace yard {
namespace {

bool alike(const Node& a, const Node& b) {
  return a.gpus == b.gpus && a.type == b.type && a.cpus == b.cpus && a.mem_gib == b.mem_gib;
}

}  // namespace

ClusterSpec scaled(ClusterSpec cluster, double scale) {
  if (scale == 1) return cluster;
  if (!cluster.tenants.empty()) {
    throw InputError("cluster '" + cluster.text + "'",
                     "no tenants if the number of nodes is scaled",
                     std::to_string(cluster.tenants.size()));
  }
  const std::vector<Node> all = std::move(cluster.nodes);
  cluster.nodes.clear();
  for (size_t begin = 0, end = 0; begin < all.size(); begin = end) {
    end = begin + 1;
    while (end < all.size() && alike(all[begin], all[end])) ++end;
    const auto count = static_cast<double>(end - begin);
    const auto wanted = static_cast<size_t>(std::max(1.0, std::round(count * scale)));
    if (cluster.nodes.size() + wanted > static_cast<size_t>(kMaxNodes)) {
      throw InputError("cluster '" + cluster.text + "'",
                       "at most " + std::to_string(kMaxNodes) + " nodes",
                       "more after scaling by " + shortest(scale));
    }
    for (size_t i = 0; i < wanted; ++i) {
      cluster.nodes.push_back(all[begin + i % (end - begin)]);
      const size_t round = i / (end - begin);
      if (round > 0) cluster.nodes.back().name += "." + std::to_string(round);
    }
  }
  cluster.text += " x " + shortest(scale);
  return cluster;
}

}  // namespace yard
