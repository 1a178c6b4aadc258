// Parses texts of Slurm: lists of nodes, numbers of GPUs, and task numbers of job arrays.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "serving/slurm/records.h"

namespace yard::slurm {

// Returns the nodes of a list such as "n[1-3,07],m1", with leading zeros. Returns nothing if the
// text is no list of nodes or names more than 100,000 nodes.
std::optional<std::vector<std::string>> expand_nodes(std::string_view list);

// Returns the first `most` numbers of a list such as "1-3,7", "0-20:5" or, with a throttle,
// "1-9%2". Returns nothing if the text is no list of numbers.
std::optional<std::vector<int>> expand_numbers(std::string_view list, size_t most);

// Parses a request for whole GPUs: "gres:gpu:a100:4", "gres/gpu:4", "gpu:2". Returns nothing for
// a request of shards, MPS, network cards or several resources.
std::optional<GpuRequest> parse_gpu_request(std::string_view text);

// GPUs in "gpu:a100:8" (all GPUs of a node) or "gpu:a100:2(IDX:0-1)" (its GPUs in use), with or
// without "(S:0-1)". Resources other than GPUs are skipped.
struct NodeGpus {
  int gpus = 0;
  std::string type;
  std::vector<int> indices;  // indices of the GPUs in use
  bool shared = false;       // whether the text has shards or MPS, too
  bool understood = true;    // false: MIG slices, several types, or an unknown form
};
NodeGpus parse_node_gpus(std::string_view text);

// Parses "cpu=1,mem=500000M,node=1" and returns the memory in MiB; 0 if there is none.
int64_t parse_tres_mem_mib(std::string_view text);

}  // namespace yard::slurm
