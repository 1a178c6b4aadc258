// Description of a cluster: nodes, GPU types, network tiers and tenants. It does not change after
// loading. A number of 0 is unspecified and limits nothing.
//
//   ClusterSpec lab = load_cluster("4x8:v100+4x8:k80");  // 4 nodes of 8 V100, then 4 of 8 K80
//   ClusterSpec known = load_cluster("philly");          // a ready-made spec, see ready.h
//   ClusterSpec own = load_cluster("cluster.yaml");      // docs/reference/cluster-yaml.md
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

inline constexpr int kMaxGpusPerNode = 64;  // so that a node's free GPUs fit into one machine word
inline constexpr int kMaxNodes = 1 << 20;
inline constexpr int kMaxTypes = 64;  // so that a job's allowed types fit into one machine word
inline constexpr int32_t kNoTenant = -1;

// The parts of a GPU that a job may hold: whole GPUs only, or thousandths of a GPU.
enum class Shares : uint8_t { kNone, kMilli };  // kNone: whole GPUs only
inline constexpr const char* kShareNames[] = {"none", "milli"};

struct GpuType {
  std::string name;
  double speed = 1;    // work per second, relative to the hardware of the trace's run times
  double mem_gib = 0;  // memory of one GPU
  std::map<std::string, double> speed_of_model = {};  // speed of models for which it is not `speed`
  double price_per_h = 0;                             // of one GPU, in one currency for all types
  double idle_w = 0, busy_w = 0;                      // power of one GPU in watts
  Shares shares = Shares::kNone;
  std::string source = {};  // where the numbers of this type come from

  double speed_on(std::string_view model) const;
};

// Capacity of a network tier. The sender is a GPU up to tier `node`, and a node above this tier.
struct NetworkTierSpec {
  double bandwidth_gbps = 0;    // Gbit/s in one direction for one sender alone
  double latency_us = 0;        // latency one way, software included
  double oversubscription = 1;  // bandwidth of all senders together / the tier's capacity
};

struct Node {
  std::string name;
  int32_t gpus = 0;            // 0: a CPU-only node
  int32_t type = 0;            // GPU type, an index into ClusterSpec::types; unused without GPUs
  double cpus = 0;             // cores
  double mem_gib = 0;          // host memory
  int32_t rack = 0;            // index of the rack, whose nodes share a switch
  int32_t pod = 0;             // index of the pod, whose racks share switches; a rack is in one pod
  int32_t zone = 0;            // index of the zone, whose nodes fail, or are reclaimed, together
  int32_t tenant = kNoTenant;  // tenant that owns the node, as index into ClusterSpec::tenants
  bool spot = false;           // the node may be reclaimed at any time
  double cpu_overload = 1;     // factor by which the node's CPU cores may be overcommitted

  // Wiring of the node that differs from ClusterSpec::tiers; topology.h combines both.
  int32_t island_gpus = 0;  // GPUs of one NVLink or PCIe island, by index; 0: all of the node's
  double island_gbps = 0;   // Gbit/s of one GPU within its island
  double island_latency_us = 0;
  double node_gbps = 0;  // Gbit/s of one GPU to other islands
  double node_latency_us = 0;
  int32_t nics = 1;
  double nic_gbps = 0;  // Gbit/s of one NIC

  int32_t num_islands() const;
};

// A virtual cluster, partition or queue of the cluster; `name` matches Job::tenant.
struct Tenant {
  std::string name;
  int32_t quota_gpus = 0;  // guaranteed GPUs, at least the GPUs of the tenant's own nodes
  int32_t limit_gpus = 0;  // largest number of GPUs that the tenant may hold at once
  double weight = 1;       // relative share of the GPUs that exceed all quotas
  int32_t priority = 0;    // tenants of higher priority go first
  bool may_borrow = true;  // may hold more than its quota while other tenants leave GPUs idle
  bool may_lend = true;    // other tenants may use its idle quota and nodes
  Preempts may_preempt = Preempts::kNoJobs;
};

// How jobs slow each other down without sharing a GPU. docs/design/speed.md has the formulas.
struct InterferenceSettings {
  double neighbours = 0;         // weight of the time added by jobs on the same node; 0: none
  bool shared_exchange = false;  // jobs spread over nodes take turns on the links of these nodes
};

// Effects of placement and neighbours on jobs of a model, as given by the cluster.
// GpuType::speed_of_model has the model's speeds, docs/design/speed.md the formulas.
struct ModelSlowdowns {
  double spread = 1;  // factor on the speed of a job on more nodes than needed
  // If gradient_mib and step_ms are given, an exchange over the cluster's links replaces `spread`.
  double gradient_mib = 0;  // size of one replica's gradients per exchange
  double step_ms = 0;       // time of an iteration on one GPU of speed 1
  // On a shared GPU, a job takes 1 + sensitivity x (pressure of the other job) times as long.
  double sensitivity = 0, pressure = 0;
};

struct ClusterSpec {
  std::string text;   // the cluster as requested: shorthand, name or path
  std::string about;  // one line
  std::vector<GpuType> types;
  std::vector<Node> nodes;  // nodes in the order in which placements visit them
  std::array<NetworkTierSpec, kTiers> tiers{};
  std::vector<Tenant> tenants;
  InterferenceSettings slowdowns;
  std::map<std::string, ModelSlowdowns> models;  // by model name
  bool one_type = false;                         // the GPUs of a job must all be of one type
  bool choose_exchange = false;                  // the scheduler chooses each job's all-reduce

  int total_gpus() const;
  int max_gpus_per_node() const;
};

// Loads a cluster from `text`: shorthand `NODESxGPUS[:TYPE]`, with several parts joined by `+`; the
// name of a ready-made cluster (ready.h); or a YAML file, whose keys are in
// docs/reference/cluster-yaml.md. In shorthand, every type has speed 1, and the default type is
// "gpu". Throws InputError, with file, line and column for YAML files.
ClusterSpec load_cluster(const std::string& text);

// Multiplies the number of nodes in each run of equal nodes by `scale`, rounded, to at least one.
// The text of the returned cluster records the scale. Throws InputError if the cluster has tenants,
// whose quotas fit its own size only, or if it would have too many nodes.
ClusterSpec scale_node_counts(ClusterSpec cluster, double scale);

}  // namespace yard
