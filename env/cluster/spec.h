// Description of a cluster: nodes, GPU types, network tiers and tenants. It is never modified after
// loading. A figure of 0 is unspecified and limits nothing.
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

inline constexpr int kMaxGpusPerNode = 64;  // a node's free GPUs fit into one machine word
inline constexpr int kMaxNodes = 1 << 20;
inline constexpr int kMaxTypes = 64;  // a job's allowed types fit into one machine word
inline constexpr int32_t kNoTenant = -1;

// The parts of a GPU that a job may hold.
enum class Shares : uint8_t { kNone, kMilli };  // whole GPUs only; thousandths of one
inline constexpr const char* kShareNames[] = {"none", "milli"};

struct GpuType {
  std::string name;
  double speed = 1;    // work per second, relative to the hardware of the trace's run times
  double mem_gib = 0;  // of one GPU
  std::map<std::string, double> speed_of_model = {};  // for models where it is not `speed`
  double price_per_h = 0;                             // of one GPU; in one currency for all types
  double idle_w = 0, busy_w = 0;                      // power of one GPU
  Shares shares = Shares::kNone;
  std::string source = {};  // where these figures come from

  double speed_on(std::string_view model) const;
};

// Properties of a tier. Up to `node` the sender is a GPU, above it a node.
struct TierSpec {
  double bandwidth_gbps = 0;    // Gbit/s in one direction for one sender alone
  double latency_us = 0;        // one way, software included
  double oversubscription = 1;  // all senders together, over the tier's capacity
};

struct Node {
  std::string name;
  int32_t gpus = 0;            // 0: a CPU-only node
  int32_t type = 0;            // index into ClusterSpec::types; meaningless without GPUs
  double cpus = 0;             // cores
  double mem_gib = 0;          // host memory
  int32_t rack = 0;            // nodes of a rack share a switch
  int32_t pod = 0;             // racks of a pod share switches; a rack is in one pod
  int32_t zone = 0;            // nodes of a zone fail, or are reclaimed, together
  int32_t tenant = kNoTenant;  // owner, by index into ClusterSpec::tenants
  bool spot = false;           // may be reclaimed at any time
  double cpu_overload = 1;     // factor by which its cores may be overcommitted

  // Wiring that differs from `tiers`; topology.h combines the two.
  int32_t island_gpus = 0;  // GPUs of an NVLink or PCIe island, by index; 0: all of the node's
  double island_gbps = 0;   // of one GPU within its island,
  double island_latency_us = 0;
  double node_gbps = 0;  // of one GPU to other islands of the node,
  double node_latency_us = 0;
  int32_t nics = 1;
  double nic_gbps = 0;  // of one of them

  int32_t islands() const;
};

// A virtual cluster, partition or queue; `name` matches Job::tenant.
struct Tenant {
  std::string name;
  int32_t quota_gpus = 0;  // guaranteed; at least those of its own nodes
  int32_t limit_gpus = 0;  // the most it may hold at once
  double weight = 1;       // relative share of the GPUs beyond all quotas
  int32_t priority = 0;    // higher goes first
  bool may_borrow = true;  // may hold more than its quota while others leave theirs idle
  bool may_lend = true;    // others may use its idle quota and nodes
  Preempts may_preempt = Preempts::kNoJobs;
};

// How jobs slow each other down without sharing a GPU. Formulas: docs/design/speed.md.
struct Slowdowns {
  double neighbours = 0;         // weight of other jobs' load on a node; 0: none
  bool shared_exchange = false;  // jobs spread over nodes take turns on those nodes' links
};

// Effects of placement and neighbours on jobs of a model, as given by the cluster; its speeds by
// type are in GpuType::speed_of_model. Formulas: docs/design/speed.md.
struct ModelTraits {
  double spread = 1;  // factor of its speed on more nodes than needed
  // If these are given, the exchange over the cluster's links replaces `spread`:
  double gradient_mib = 0;  // gradients of one replica per exchange
  double step_ms = 0;       // an iteration of one GPU of speed 1
  // On a shared GPU, a job takes 1 + sensitivity x (pressure of the other job) times as long.
  double sensitivity = 0, pressure = 0;
};

struct ClusterSpec {
  std::string text;   // as requested: shorthand, name or path
  std::string about;  // one line
  std::vector<GpuType> types;
  std::vector<Node> nodes;  // in the order in which placements visit them
  std::array<TierSpec, kTiers> tiers{};
  std::vector<Tenant> tenants;
  Slowdowns slowdowns;
  std::map<std::string, ModelTraits> models;  // by model name
  bool one_type = false;                      // a job's GPUs must all be of one type
  bool choose_exchange = false;               // the scheduler sets the all-reduce of a job

  int total_gpus() const;
  int max_gpus_per_node() const;
};

// Loads a cluster from `text`: shorthand `NODESxGPUS[:TYPE]`, parts joined by `+`; the name of a
// ready-made spec (ready.h); or a YAML file, whose keys are in docs/reference/cluster-yaml.md. In
// shorthand, every type has speed 1 and the default type is "gpu". Throws InputError, for files
// with line and column.
ClusterSpec load_cluster(const std::string& text);

// Multiplies the number of nodes in each run of equal nodes by `scale`, rounded, at least one. The
// result's text records the scale. Throws InputError if the cluster has tenants, whose quotas hold
// for its own size only, or if there would be too many nodes.
ClusterSpec scaled(ClusterSpec cluster, double scale);

}  // namespace yard
