// Parses what Slurm packs into texts: lists of nodes, GPUs, task numbers of arrays.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "serving/slurm/records.h"

namespace yard::slurm {

// Returns the nodes of "n[1-3,07],m1", with leading zeros kept. Returns nothing if the text is no
// such list or names more than 100,000 nodes.
std::optional<std::vector<std::string>> expand_nodes(std::string_view list);

// Returns the numbers of "1-3,7" or "0-20:5", with or without a throttle "%2" at the end. Returns
// at most `most` of them, and nothing if the text is no such list.
std::optional<std::vector<int>> expand_numbers(std::string_view list, size_t most);

// Parses a request for whole GPUs: "gres:gpu:a100:4", "gres/gpu:4", "gpu:2". Returns nothing for
// other resources (shards, MPS, network cards) or several.
std::optional<GpuRequest> parse_gpu_request(std::string_view text);

// GPUs of a node: "gpu:a100:8" (all) or "gpu:a100:2(IDX:0-1)" (in use), with or without "(S:0-1)".
// Other resources are skipped.
struct NodeGpus {
  int gpus = 0;
  std::string type;
  std::vector<int> indices;  // of those in use
  bool shared = false;       // lists shards or MPS, too
  bool understood = true;    // false: MIG slices, several types, or another form
};
NodeGpus parse_node_gpus(std::string_view text);

// Parses "cpu=1,mem=500000M,node=1" and returns the memory in MiB; 0 if there is none.
int64_t parse_tres_mem_mib(std::string_view text);

}  // namespace yard::slurm
