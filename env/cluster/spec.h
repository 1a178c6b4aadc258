// What a cluster is made of: nodes, GPU types, the tiers of its network, tenants. Never written
// after loading. Where a figure is 0, nobody said it, and it limits nothing.
//
//   ClusterSpec lab = load_cluster("4x8:v100+4x8:k80");  // 4 nodes of 8 V100, then 4 of 8 K80
//   ClusterSpec known = load_cluster("philly");          // a ready-made spec, see ready.h
//   ClusterSpec own = load_cluster("cluster.yaml");      // docs/clusters.md
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "env/cluster/preempts.h"
#include "env/cluster/tier.h"

namespace yard {

inline constexpr int kMaxGpusPerNode = 64;  // one machine word holds a node's free GPUs
inline constexpr int kMaxNodes = 1 << 20;
inline constexpr int kMaxTypes = 64;  // one machine word holds those that a job may run on
inline constexpr int32_t kNoTenant = -1;

// Which parts of a GPU a job may hold.
enum class Shares : uint8_t { kNone, kMilli };  // whole ones alone; thousandths of one
inline constexpr const char* kShareNames[] = {"none", "milli"};

struct GpuType {
  std::string name;
  double speed = 1;    // work per second, relative to whatever the trace's run times were taken on
  double mem_gib = 0;  // of one GPU
  std::map<std::string, double> speed_of_model = {};  // of models for which it is not `speed`
  double price_per_h = 0;                             // of one GPU; in one currency for all types
  double idle_w = 0, busy_w = 0;                      // power of one GPU
  Shares shares = Shares::kNone;
  std::string source = {};  // where these figures come from

  double speed_on(std::string_view model) const;
};

// What a transfer meets there. Up to `node` the sender is a GPU, above it is a node.
struct TierSpec {
  double bandwidth_gbps = 0;    // Gbit/s in one direction that one sender gets while it is alone
  double latency_us = 0;        // one way, software included
  double oversubscription = 1;  // all senders together, over what the tier carries
};

struct Node {
  std::string name;
  int32_t gpus = 0;            // 0: a node of CPUs alone
  int32_t type = 0;            // index into ClusterSpec::types; means nothing without GPUs
  double cpus = 0;             // cores
  double mem_gib = 0;          // host memory
  int32_t rack = 0;            // nodes of one rack share a switch
  int32_t pod = 0;             // racks of one pod share the next switches; a rack is in one pod
  int32_t zone = 0;            // nodes of one zone fail, or are bought back, together
  int32_t tenant = kNoTenant;  // whose node it is, by index into ClusterSpec::tenants
  bool spot = false;           // may be taken away at any time
  double cpu_overload = 1;     // so many times its cores may be promised

  // Its wires, where they are not what `tiers` says; topology.h has the two together.
  int32_t island_gpus = 0;  // GPUs of an NVLink or PCIe island, by index; 0: all of the node's
  double island_gbps = 0;   // of one GPU within its island,
  double island_latency_us = 0;
  double node_gbps = 0;  // of one GPU to other islands of the node,
  double node_latency_us = 0;
  int32_t nics = 1;
  double nic_gbps = 0;  // of one of them

  int32_t islands() const;
};

// A virtual cluster, partition or queue; `name` is that of Job::tenant.
struct Tenant {
  std::string name;
  int32_t quota_gpus = 0;  // guaranteed; at least those of the nodes it owns
  int32_t limit_gpus = 0;  // the most it may hold at once
  double weight = 1;       // its tickets: shares of what is not guaranteed go by them
  int32_t priority = 0;    // higher goes first
  bool may_borrow = true;  // may hold more than its quota while others leave theirs idle
  bool may_lend = true;    // others may hold its quota, and its nodes, while it leaves them idle
  Preempts may_preempt = Preempts::kNobody;
};

// How jobs slow each other down without sharing a GPU. The forms: docs/speed.md.
struct Slowdowns {
  double neighbours = 0;         // weight of what other jobs on a node take; 0: nothing
  bool shared_exchange = false;  // jobs spread over several nodes share those nodes' wires in turn
};

// What place and neighbours do to jobs of a model, where the cluster itself says it; how fast they
// are on a type is GpuType::speed_of_model. The forms: docs/speed.md.
struct ModelTraits {
  double spread = 1;  // of the speed, what is left on more nodes than needed
  // Where these are told, the exchange over the cluster's links takes the place of `spread`:
  double gradient_mib = 0;  // what a replica gives to it
  double step_ms = 0;       // an iteration of one GPU of speed 1
  double suffers = 0;  // beside another on one GPU the job takes 1 + suffers x that one's presses
  double presses = 0;  // times as long
};

struct ClusterSpec {
  std::string text;   // what was asked for: shorthand, name, or path
  std::string about;  // in one line
  std::vector<GpuType> types;
  std::vector<Node> nodes;  // in the order placements walk them
  std::array<TierSpec, kTiers> tiers{};
  std::vector<Tenant> tenants;
  Slowdowns slowdowns;
  std::map<std::string, ModelTraits> models;  // by the names that jobs carry
  bool one_type = false;                      // a job's GPUs are all of one type
  bool choose_exchange = false;               // a scheduler says how the all-reduce of a job runs

  int total_gpus() const;
  int max_gpus_per_node() const;
};

// Returns the cluster that `text` names: shorthand `NODESxGPUS[:TYPE]`, parts joined by `+`; a
// ready-made spec (ready.h); or else a YAML file. docs/clusters.md says every key. In the shorthand
// every type has speed 1 and a node without one is of type "gpu".
// Throws InputError, for files with line and column.
ClusterSpec load_cluster(const std::string& text);

}  // namespace yard
