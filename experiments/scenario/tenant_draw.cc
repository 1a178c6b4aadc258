#include "experiments/scenario/tenant_draw.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace yard {

bool needs_tenants(const ClusterSpec& cluster) {
  return std::ranges::all_of(cluster.nodes, [&](const Node& node) {
    return node.tenant != kNoTenant && !cluster.tenants[static_cast<size_t>(node.tenant)].may_lend;
  });
}

void draw_tenants(Trace& trace, const ClusterSpec& cluster, const Rng& rng) {
  const auto named = [](const Job& job) { return !job.tenant.empty(); };
  if (std::ranges::any_of(trace.jobs, named) || !needs_tenants(cluster)) return;
  std::vector<int64_t> gpus(cluster.tenants.size(), 0);
  for (const Node& node : cluster.nodes) gpus[static_cast<size_t>(node.tenant)] += node.gpus;
  const int64_t most = *std::ranges::max_element(gpus);
  for (size_t j = 0; j < trace.jobs.size(); ++j) {
    Job& job = trace.jobs[j];
    const int64_t needed =
        std::min<int64_t>(job.gpus, most);  // jobs larger than any tenant fail later
    int64_t open = 0;
    for (const int64_t own : gpus) open += own >= needed ? own : 0;
    Rng own_draw = rng.split(j);
    auto at = static_cast<int64_t>(own_draw.uniform() * static_cast<double>(open));
    for (size_t t = 0; t < gpus.size(); ++t) {
      if (gpus[t] < needed || gpus[t] == 0) continue;
      job.tenant = cluster.tenants[t].name;
      if (at < gpus[t]) break;
      at -= gpus[t];
    }
  }
}

}  // namespace yard
