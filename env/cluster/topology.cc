#include "env/cluster/topology.h"

#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>

namespace yard {
namespace {

using Row = std::array<double, kTiers>;

constexpr size_t at(Tier tier) { return static_cast<size_t>(tier); }

double first_specified(double own, double otherwise) { return own > 0 ? own : otherwise; }

// Returns the smaller of two figures, ignoring unspecified ones.
double min_specified(double a, double b) {
  return a > 0 && b > 0 ? std::min(a, b) : std::max(a, b);
}

Row gbps_of(const ClusterSpec& spec, const Node& node) {
  const auto tier = [&](Tier t) { return spec.tiers[at(t)].bandwidth_gbps; };
  Row row{};
  row[at(Tier::kGpu)] = tier(Tier::kGpu);
  row[at(Tier::kIsland)] = first_specified(node.island_gbps, tier(Tier::kIsland));
  row[at(Tier::kNode)] = first_specified(node.node_gbps, tier(Tier::kNode));
  row[at(Tier::kRack)] = first_specified(node.nics * node.nic_gbps, tier(Tier::kRack));
  row[at(Tier::kPod)] = min_specified(row[at(Tier::kRack)], tier(Tier::kPod));
  row[at(Tier::kCore)] = min_specified(row[at(Tier::kPod)], tier(Tier::kCore));
  return row;
}

Row latency_us_of(const ClusterSpec& spec, const Node& node) {
  Row row{};
  for (size_t t = 0; t < kTiers; ++t) row[t] = spec.tiers[t].latency_us;
  row[at(Tier::kIsland)] = first_specified(node.island_latency_us, row[at(Tier::kIsland)]);
  row[at(Tier::kNode)] = first_specified(node.node_latency_us, row[at(Tier::kNode)]);
  return row;
}

}  // namespace

Topology::Topology(const ClusterSpec& spec) {
  std::unordered_map<int32_t, int32_t> racks, pods;
  const auto dense = [](std::unordered_map<int32_t, int32_t>& ids, int32_t id) {
    return ids.try_emplace(id, static_cast<int32_t>(ids.size())).first->second;
  };
  for (const Node& node : spec.nodes) {
    rack_.push_back(dense(racks, node.rack));
    pod_.push_back(dense(pods, node.pod));
    islands_.push_back(node.num_islands());
    island_gpus_.push_back(std::max(node.island_gpus == 0 ? node.gpus : node.island_gpus, 1));
    nics_.push_back(node.nics);
  }
  rack_pod_.assign(racks.size(), 0);
  rack_nodes_.assign(racks.size(), 0);
  pod_nodes_.assign(pods.size(), 0);
  for (size_t m = 0; m < spec.nodes.size(); ++m) {
    rack_pod_[static_cast<size_t>(rack_[m])] = pod_[m];
    ++rack_nodes_[static_cast<size_t>(rack_[m])];
    ++pod_nodes_[static_cast<size_t>(pod_[m])];
  }
  add_node_links(spec);
  TopologyColumns& c = columns_;
  c.num_nodes = static_cast<int32_t>(spec.nodes.size());
  c.num_racks = static_cast<int32_t>(racks.size());
  c.num_pods = static_cast<int32_t>(pods.size());
  c.num_kinds = static_cast<int32_t>(gbps_.size()) / kTiers;
  c.rack = rack_.data();
  c.pod = pod_.data();
  c.rack_pod = rack_pod_.data();
  c.rack_nodes = rack_nodes_.data();
  c.pod_nodes = pod_nodes_.data();
  c.islands = islands_.data();
  c.island_gpus = island_gpus_.data();
  c.nics = nics_.data();
  c.kind = kind_.data();
  c.gbps = gbps_.data();
  c.latency_us = latency_us_.data();
  for (size_t t = 0; t < kTiers; ++t) c.oversubscription[t] = spec.tiers[t].oversubscription;
  add_uplinks();
}

void Topology::add_node_links(const ClusterSpec& spec) {
  std::map<std::pair<Row, Row>, int32_t> kinds;
  for (const Node& node : spec.nodes) {
    const Row gbps = gbps_of(spec, node), latency_us = latency_us_of(spec, node);
    const auto next = static_cast<int32_t>(kinds.size());
    const auto [it, fresh] = kinds.try_emplace({gbps, latency_us}, next);
    kind_.push_back(it->second);
    if (!fresh) continue;
    gbps_.insert(gbps_.end(), gbps.begin(), gbps.end());
    latency_us_.insert(latency_us_.end(), latency_us.begin(), latency_us.end());
  }
}

// Computes uplinks: the sum of all nodes' rates below a tier, divided by its oversubscription.
void Topology::add_uplinks() {
  const TopologyColumns& c = columns_;
  rack_up_gbps_.assign(rack_pod_.size(), 0);
  pod_up_gbps_.assign(pod_nodes_.size(), 0);
  const double at_pod = c.oversubscription[at(Tier::kPod)];
  const double at_core = at_pod * c.oversubscription[at(Tier::kCore)];
  for (int32_t m = 0; m < c.num_nodes; ++m) {
    rack_up_gbps_[static_cast<size_t>(c.rack[m])] += gbps_at(c, m, Tier::kPod) / at_pod;
    pod_up_gbps_[static_cast<size_t>(c.pod[m])] += gbps_at(c, m, Tier::kCore) / at_core;
  }
  columns_.rack_up_gbps = rack_up_gbps_.data();
  columns_.pod_up_gbps = pod_up_gbps_.data();
}

}  // namespace yard
