// What a cluster is made of: nodes and GPU types. Never written after loading.
//
//   ClusterSpec lab = load_cluster("4x8:v100+4x8:k80");  // 4 nodes of 8 V100, then 4 of 8 K80
//   ClusterSpec own = load_cluster("cluster.yaml");
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace yard {

inline constexpr int kMaxGpusPerNode = 64;  // one machine word holds a node's free GPUs
inline constexpr int kMaxNodes = 1 << 20;

struct GpuType {
  std::string name;
  double speed = 1;    // work per second, relative to whatever the trace's run times were taken on
  double mem_gib = 0;  // 0: not said
};

struct Node {
  std::string name;
  int32_t gpus = 0;
  int32_t type = 0;    // index into ClusterSpec::types
  int32_t cpus = 0;    // 0: not said, never a limit
  double mem_gib = 0;  // host memory; 0: not said, never a limit
  int32_t rack = 0;    // nodes of one rack share a switch
};

struct ClusterSpec {
  std::string text;  // what was asked for: the shorthand, or the path of the YAML file
  std::vector<GpuType> types;
  std::vector<Node> nodes;  // in the order placements walk them

  int total_gpus() const;
  int max_gpus_per_node() const;
};

// Returns the cluster that `text` names: shorthand `NODESxGPUS[:TYPE]`, parts joined by `+`, or
// else a YAML file. In the shorthand every type has speed 1 and a node without one is of type
// "gpu".
//
//   gpu_types:                 # optional; a type used below but not named here has speed 1
//     v100: {speed: 1.0, mem_gib: 32}
//     k80:  {speed: 0.25, mem_gib: 12}
//   nodes:                     # required; groups of equal nodes
//     - {count: 4, gpus: 8, type: v100, cpus: 64, mem_gib: 256, rack: 0, name: fast}
//     - {count: 4, gpus: 8, type: k80}
//
// Of a group only `gpus` (1 to 64) is required; count is 1, type "gpu", rack 0, and a node's name
// is the group's (or its type's) with its index in the cluster, "fast0". Unknown keys are refused.
// Throws InputError, for YAML with file and line.
ClusterSpec load_cluster(const std::string& text);

}  // namespace yard
