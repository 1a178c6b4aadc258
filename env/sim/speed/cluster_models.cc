#include "env/sim/speed/cluster_models.h"

#include <algorithm>
#include <string>
#include <vector>

#include "env/sim/speed/curve.h"

namespace yard {
namespace {

constexpr const char* kSource = "cluster";
constexpr int32_t kBatch = 1;  // clusters' files have no batch sizes

// Returns the number of nodes nearest to `needed` within the spread; 0 if they cannot hold the job.
int32_t nodes_of(size_t spread, int32_t needed, int32_t gpus) {
  const int32_t fewest = kMinNodes[spread];
  const int32_t most = spread + 1 < kSpreads ? kMinNodes[spread + 1] - 1 : gpus;
  const int32_t nodes = std::clamp(needed, fewest, std::max(fewest, most));
  return nodes < needed || nodes > gpus ? 0 : nodes;
}

std::vector<int32_t> evenly(int32_t gpus, int32_t nodes) {
  std::vector<int32_t> out(static_cast<size_t>(nodes), gpus / nodes);
  for (int32_t i = 0; i < gpus % nodes; ++i) ++out[static_cast<size_t>(i)];
  return out;
}

}  // namespace

void add_profiles_from_cluster_spec(const ClusterSpec& cluster, int32_t max_gpus, Profiles& out) {
  const int32_t node_gpus = std::max(1, cluster.max_gpus_per_node());
  for (const auto& [name, model] : cluster.models) {
    ModelProfile& profile = out.profile(kSource, name, BatchScaling::kWeak);
    profile.by_links = model.gradient_mib > 0;
    profile.gradient_bytes = model.gradient_mib * 1024 * 1024;
    for (const GpuType& type : cluster.types) {
      if (profile.by_links) {
        const double step_s = 1e-3 * model.step_ms / type.speed_on(name);
        profile.runs.push_back({lower_case(type.name), {1}, kBatch, step_s, -1});
      }
      for (int32_t gpus = 1; !profile.by_links && gpus <= max_gpus; ++gpus) {
        const int32_t needed = (gpus + node_gpus - 1) / node_gpus;
        for (size_t spread = 0; spread < kSpreads; ++spread) {
          const int32_t nodes = nodes_of(spread, needed, gpus);
          if (nodes == 0) continue;
          const double speed = type.speed_on(name) * (nodes > needed ? model.spread : 1);
          profile.runs.push_back(
              {lower_case(type.name), evenly(gpus, nodes), kBatch, 1 / speed, -1});
        }
      }
      for (const auto& [other_name, other] : cluster.models) {
        const auto rate_left = [](const ModelSlowdowns& one, const ModelSlowdowns& neighbour) {
          return 1 / (1 + one.sensitivity * neighbour.pressure);
        };
        out.pairs.push_back({kSource,
                             lower_case(type.name),
                             {name, kBatch, rate_left(model, other)},
                             {other_name, kBatch, rate_left(other, model)}});
      }
    }
  }
}

}  // namespace yard
