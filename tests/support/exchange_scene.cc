#include "tests/support/exchange_scene.h"

#include <algorithm>

#include "env/sim/speed/cluster_models.h"

namespace yard::testing {

TierLinks links_of(const ClusterSpec& cluster) {
  TierLinks out;
  for (size_t t = 0; t < out.size(); ++t) {
    out[t] = {1e-6 * cluster.tiers[t].latency_us, 1e9 / 8 * cluster.tiers[t].bandwidth_gbps};
  }
  return out;
}

ExchangeScene::ExchangeScene(const ClusterSpec& cluster, const std::vector<Job>& jobs, bool choose)
    : scene_(cluster, jobs, no_costs()) {
  int32_t largest_gang = 1;
  for (const Job& job : jobs) largest_gang = std::max(largest_gang, job.gpus);
  add_profiles_from_cluster_spec(cluster, largest_gang, profiles_);
  SpeedOptions options;
  options.types = cluster.types;
  options.max_gpus = largest_gang;
  options.node_gpus = cluster.max_gpus_per_node();
  options.links = links_of(cluster);
  options.unmeasured_pair = 1;
  table_ = std::make_unique<SpeedTable>(profiles_, options);
  for (const Job& job : jobs) {
    classes_.push_back(table_->class_of(job.model, 0, job.gpus, job.pattern));
    if (choose && classes_.back() > 0) table_->allow_all_reduce_choice(classes_.back());
  }
  scene_.set_speeds(table_->columns(), classes_);
}

ClusterSpec two_racks() {
  ClusterSpec spec = load_cluster("4x2");
  const auto tier = [&](Tier t) -> NetworkTierSpec& { return spec.tiers[static_cast<size_t>(t)]; };
  tier(Tier::kIsland) = tier(Tier::kNode) = {96, 13, 1};
  tier(Tier::kRack) = {8, 100, 1};
  tier(Tier::kPod).oversubscription = 2;
  for (size_t m = 0; m < spec.nodes.size(); ++m) spec.nodes[m].rack = static_cast<int32_t>(m / 2);
  spec.models["small"] = {.gradient_mib = 0.125, .step_ms = 1, .sensitivity = 0.5, .pressure = 0.3};
  spec.models["large"] = {.gradient_mib = 256, .step_ms = 200, .sensitivity = 0.2, .pressure = 0.8};
  spec.choose_exchange = true;
  return spec;
}

}  // namespace yard::testing
