#include "experiments/report/describe_cluster.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "env/cluster/topology.h"

namespace yard::sim {
namespace {

using Json = nlohmann::ordered_json;

// A figure, or null if it is unknown (not above 0).
Json or_null(double value) { return value > 0 ? Json(value) : Json(nullptr); }

// A sum over all GPUs of a cluster. It is known only if the figure is known for each GPU.
struct Sum {
  double sum = 0;
  bool known = true;

  void add(int32_t gpus, double each) {
    sum += gpus * each;
    known = known && each > 0;
  }
  Json json() const { return known ? or_null(sum) : Json(nullptr); }
  Json each(int32_t gpus) const { return known ? or_null(sum / gpus) : Json(nullptr); }
};

Json types_json(const ClusterSpec& spec) {
  Json out = Json::array();
  for (size_t t = 0; t < spec.types.size(); ++t) {
    const GpuType& type = spec.types[t];
    int64_t nodes = 0, gpus = 0;
    for (const Node& node : spec.nodes) {
      if (node.gpus == 0 || node.type != static_cast<int32_t>(t)) continue;
      ++nodes;
      gpus += node.gpus;
    }
    Json speeds = Json::object();
    for (const auto& [model, speed] : type.speed_of_model) speeds[model] = speed;
    out.push_back({{"name", type.name},
                   {"nodes", nodes},
                   {"gpus", gpus},
                   {"speed", type.speed},
                   {"speed_of_model", speeds},
                   {"mem_gib", or_null(type.mem_gib)},
                   {"idle_w", or_null(type.idle_w)},
                   {"busy_w", or_null(type.busy_w)},
                   {"price_per_h", or_null(type.price_per_h)},
                   {"shares", kShareNames[static_cast<size_t>(type.shares)]},
                   {"source", type.source}});
  }
  return out;
}

// Nodes grouped by everything but name and location, in the order of their first occurrence.
Json kinds_json(const ClusterSpec& spec, const TopologyColumns& t) {
  using Key = std::tuple<int32_t, int32_t, double, double, double, bool, int32_t, int32_t, int32_t>;
  std::map<Key, size_t> index;
  Json out = Json::array();
  for (size_t m = 0; m < spec.nodes.size(); ++m) {
    const Node& node = spec.nodes[m];
    const Key key{node.gpus,         node.gpus > 0 ? node.type : -1,
                  node.cpus,         node.mem_gib,
                  node.cpu_overload, node.spot,
                  t.island_gpus[m],  node.nics,
                  t.kind[m]};
    const auto [it, inserted] = index.try_emplace(key, out.size());
    if (!inserted) {
      Json& count = out[it->second]["nodes"];
      count = count.get<int64_t>() + 1;
      continue;
    }
    const auto gbps = [&](Tier tier) {
      const bool sends = node.gpus > 0 || tier >= Tier::kRack;
      return sends ? or_null(gbps_at(t, static_cast<int32_t>(m), tier)) : Json(nullptr);
    };
    out.push_back({{"nodes", 1},
                   {"gpus", node.gpus},
                   {"type", nullptr},
                   {"cpus", or_null(node.cpus)},
                   {"mem_gib", or_null(node.mem_gib)},
                   {"cpu_overload", node.cpu_overload},
                   {"spot", node.spot},
                   {"islands", t.islands[m]},
                   {"island_gpus", node.gpus == 0 ? 0 : t.island_gpus[m]},
                   {"island_gbps", gbps(Tier::kIsland)},
                   {"node_gbps", gbps(Tier::kNode)},
                   {"nics", node.nics},
                   {"network_gbps", gbps(Tier::kRack)}});
    if (node.gpus > 0) out.back()["type"] = spec.types[static_cast<size_t>(node.type)].name;
  }
  return out;
}

// What a tier joins: the number of groups, the GPUs of the largest group, and its bisection
// bandwidth: half of what all its members can send through the tier at once.
struct TierExtent {
  int64_t groups = 0, gpus = 0;
  double bisection_gbps = 0;

  void add(int64_t more_gpus, double sent_gbps) {
    ++groups;
    if (more_gpus <= gpus) return;
    gpus = more_gpus;
    bisection_gbps = sent_gbps / 2;
  }
};

TierExtent extent_of(const ClusterSpec& spec, const TopologyColumns& t, Tier tier) {
  TierExtent extent;
  const double over = t.oversubscription[static_cast<size_t>(tier)];
  std::vector<int64_t> rack_gpus(static_cast<size_t>(t.num_racks), 0);
  std::vector<int64_t> pod_gpus(static_cast<size_t>(t.num_pods), 0);
  std::vector<double> rack_gbps(rack_gpus.size(), 0), pod_gbps(pod_gpus.size(), 0);
  double core_gbps = 0;
  for (int32_t m = 0; m < t.num_nodes; ++m) {
    const int32_t gpus = spec.nodes[static_cast<size_t>(m)].gpus;
    const double node_gbps = gbps_at(t, m, tier) / over;
    const auto rack = static_cast<size_t>(t.rack[m]);
    rack_gpus[rack] += gpus;
    rack_gbps[rack] += node_gbps;
    if (gpus == 0) continue;
    const int32_t island = std::min(t.island_gpus[m], gpus);
    if (tier == Tier::kGpu) {
      for (int32_t g = 0; g < gpus; ++g) extent.add(1, 0);
    } else if (tier == Tier::kIsland) {
      for (int32_t i = 0; i < t.islands[m]; ++i) extent.add(island, island * node_gbps);
    } else if (tier == Tier::kNode) {
      extent.add(gpus, gpus * node_gbps);
    }
  }
  for (size_t r = 0; r < rack_gpus.size(); ++r) {
    const auto pod = static_cast<size_t>(t.rack_pod[r]);
    pod_gpus[pod] += rack_gpus[r];
    pod_gbps[pod] += t.rack_up_gbps[r];
    if (tier == Tier::kRack) extent.add(rack_gpus[r], rack_gbps[r]);
  }
  for (size_t p = 0; p < pod_gpus.size(); ++p) {
    core_gbps += t.pod_up_gbps[p];
    if (tier == Tier::kPod) extent.add(pod_gpus[p], pod_gbps[p]);
  }
  if (tier == Tier::kCore) extent.add(spec.total_gpus(), core_gbps);
  return extent;
}

Json tiers_json(const ClusterSpec& spec, const TopologyColumns& t) {
  Json out = Json::array();
  for (int32_t i = 0; i < kTiers; ++i) {
    const auto tier = static_cast<Tier>(i);
    const TierExtent extent = extent_of(spec, t, tier);
    double least = 0, most = 0, latency_us = 0;
    for (int32_t m = 0; m < t.num_nodes; ++m) {
      if (spec.nodes[static_cast<size_t>(m)].gpus == 0) continue;
      const double gbps = gbps_at(t, m, tier);
      if (gbps > 0 && (least == 0 || gbps < least)) least = gbps;
      most = std::max(most, gbps);
      latency_us = std::max(latency_us, latency_us_at(t, m, tier));
    }
    out.push_back({{"name", kTierNames[i]},
                   {"groups", extent.groups},
                   {"largest_gpus", extent.gpus},
                   {"sender", tier <= Tier::kNode ? "gpu" : "node"},
                   {"least_gbps", or_null(least)},
                   {"most_gbps", or_null(most)},
                   {"latency_us", or_null(latency_us)},
                   {"oversubscription", t.oversubscription[i]},
                   {"bisection_gbps", or_null(extent.bisection_gbps)}});
  }
  return out;
}

Json tenants_json(const ClusterSpec& spec) {
  Json out = Json::array();
  for (size_t i = 0; i < spec.tenants.size(); ++i) {
    const Tenant& tenant = spec.tenants[i];
    int64_t nodes = 0;
    for (const Node& node : spec.nodes) nodes += node.tenant == static_cast<int32_t>(i);
    out.push_back({{"name", tenant.name},
                   {"quota_gpus", tenant.quota_gpus},
                   {"limit_gpus", tenant.limit_gpus},
                   {"nodes", nodes},
                   {"weight", tenant.weight},
                   {"priority", tenant.priority},
                   {"may_borrow", tenant.may_borrow},
                   {"may_lend", tenant.may_lend},
                   {"may_preempt", kPreemptsNames[static_cast<size_t>(tenant.may_preempt)]}});
  }
  return out;
}

}  // namespace

Json describe_cluster(const ClusterSpec& spec) {
  const Topology topology(spec);
  const TopologyColumns& t = topology.columns();
  Sum cpus, mem_gib, gpu_mem_gib, idle_w, busy_w, price;
  int64_t nodes_without_gpus = 0, spot = 0;
  std::set<int32_t> zones;
  for (const Node& node : spec.nodes) {
    nodes_without_gpus += node.gpus == 0;
    spot += node.spot;
    zones.insert(node.zone);
    if (node.gpus == 0) continue;
    cpus.add(node.gpus, node.cpus / node.gpus);
    mem_gib.add(node.gpus, node.mem_gib / node.gpus);
    const GpuType& type = spec.types[static_cast<size_t>(node.type)];
    gpu_mem_gib.add(node.gpus, type.mem_gib);
    idle_w.add(node.gpus, type.idle_w);
    busy_w.add(node.gpus, type.busy_w);
    price.add(node.gpus, type.price_per_h);
  }
  const int gpus = spec.total_gpus();
  return {{"text", spec.text},
          {"about", spec.about},
          {"nodes", spec.nodes.size()},
          {"nodes_without_gpus", nodes_without_gpus},
          {"spot_nodes", spot},
          {"gpus", gpus},
          {"max_gpus_per_node", spec.max_gpus_per_node()},
          {"racks", t.num_racks},
          {"pods", t.num_pods},
          {"zones", zones.size()},
          {"cpus_per_gpu", cpus.each(gpus)},
          {"mem_gib_per_gpu", mem_gib.each(gpus)},
          {"gpu_mem_gib", gpu_mem_gib.json()},
          {"gpus_idle_w", idle_w.json()},
          {"gpus_busy_w", busy_w.json()},
          {"price_per_h", price.json()},
          {"types", types_json(spec)},
          {"kinds", kinds_json(spec, t)},
          {"tiers", tiers_json(spec, t)},
          {"tenants", tenants_json(spec)}};
}

}  // namespace yard::sim
