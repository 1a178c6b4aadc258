// Positions of a cluster's nodes in its network and the capacity of each tier: plain columns that
// rules read on CPU and GPU, and the class that owns these columns on the host. Dims: M nodes, R
// racks, P pods, K kinds of nodes (equal wiring), T = kTiers. 0 means unspecified.
#pragma once

#include <cstdint>
#include <vector>

#include "env/base/core/check.h"
#include "env/cluster/spec.h"

namespace yard {

struct TopologyColumns {
  int32_t num_nodes = 0, num_racks = 0, num_pods = 0, num_kinds = 0;
  const int32_t* rack = nullptr;         // (M)  rack of a node, from 0 on, by first appearance
  const int32_t* pod = nullptr;          // (M)  pod of a node, from 0 on, by first appearance
  const int32_t* rack_pod = nullptr;     // (R)
  const int32_t* rack_nodes = nullptr;   // (R)  nodes in the rack
  const int32_t* pod_nodes = nullptr;    // (P)  nodes in the pod
  const int32_t* islands = nullptr;      // (M)  number of islands; 0 for a node without GPUs
  const int32_t* island_gpus = nullptr;  // (M)  GPU g is in island g / island_gpus; at least 1
  const int32_t* nics = nullptr;         // (M)  number of NICs, whose Gbit/s add up
  const int32_t* kind = nullptr;         // (M)

  // (K, T)  Gbit/s in one direction for a lone sender: a GPU up to tier `node`, a node above it.
  // Pods and cores without a bandwidth pass on the rate of the tier below them.
  const double* gbps = nullptr;
  const double* latency_us = nullptr;  // (K, T)  one-way latency

  double oversubscription[kTiers] = {};  // bandwidth of all senders / the tier's capacity
  const double* rack_up_gbps = nullptr;  // (R)  Gbit/s from the rack to its pod, over all wires
  const double* pod_up_gbps = nullptr;   // (P)  Gbit/s from the pod to the core, over all wires
};

// Returns the lowest tier that contains all of the `n` nodes. Requires: n > 0.
YARD_HD inline Tier tier_of_nodes(const TopologyColumns& t, const int32_t* nodes, int32_t n) {
  Tier tier = Tier::kNode;
  for (int32_t i = 1; i < n; ++i) {
    const int32_t a = nodes[0], b = nodes[i];
    if (t.pod[a] != t.pod[b]) return Tier::kCore;
    if (t.rack[a] != t.rack[b]) {
      tier = Tier::kPod;
    } else if (a != b && tier < Tier::kRack) {
      tier = Tier::kRack;
    }
  }
  return tier;
}

// Returns the lowest tier that contains the GPUs of `mask` on one node. Requires: mask != 0.
YARD_HD inline Tier tier_of_gpus(const TopologyColumns& t, int32_t node, uint64_t mask) {
  if ((mask & (mask - 1)) == 0) return Tier::kGpu;
  const int32_t size = t.island_gpus[node];
  if (size >= 64) return Tier::kIsland;
  const uint64_t one = (uint64_t{1} << size) - 1;
  for (int32_t first = 0; first < 64; first += size) {
    const uint64_t island = one << first;
    if ((mask & island) != 0) return (mask & ~island) == 0 ? Tier::kIsland : Tier::kNode;
  }
  return Tier::kNode;
}

YARD_HD inline double gbps_at(const TopologyColumns& t, int32_t node, Tier tier) {
  return t.gbps[t.kind[node] * kTiers + static_cast<int32_t>(tier)];
}

YARD_HD inline double latency_us_at(const TopologyColumns& t, int32_t node, Tier tier) {
  return t.latency_us[t.kind[node] * kTiers + static_cast<int32_t>(tier)];
}

// Returns the lowest rate at `tier` of a lone sender on any of the nodes; 0 if no rate is given.
YARD_HD inline double slowest_gbps(const TopologyColumns& t, Tier tier, const int32_t* nodes,
                                   int32_t n) {
  double least = 0;
  for (int32_t i = 0; i < n; ++i) {
    const double gbps = gbps_at(t, nodes[i], tier);
    if (gbps > 0 && (least == 0 || gbps < least)) least = gbps;
  }
  return least;
}

class Topology {
 public:
  explicit Topology(const ClusterSpec& spec);
  Topology(const Topology&) = delete;
  Topology& operator=(const Topology&) = delete;

  const TopologyColumns& columns() const { return columns_; }

 private:
  void add_node_links(const ClusterSpec& spec);
  void add_uplinks();

  TopologyColumns columns_;
  std::vector<int32_t> rack_, pod_, rack_pod_, rack_nodes_, pod_nodes_;
  std::vector<int32_t> islands_, island_gpus_, nics_, kind_;
  std::vector<double> gbps_, latency_us_, rack_up_gbps_, pod_up_gbps_;
};

}  // namespace yard
