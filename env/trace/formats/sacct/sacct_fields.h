// Parses durations, memory, states, job numbers and trackable resources (TRES) of Slurm's sacct.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace yard {

// Parses "1-02:00:00", "00:10:00", "05:30" or "00:00:08.125" to seconds, without the fraction; also
// "1 days 02:00:00", as pandas writes it.
std::optional<int64_t> parse_slurm_s(std::string_view text);

// Parses "4000M", "16G", "62.50G" or "512" (MiB) to MiB, rounded up. "4Gn" and "2Gc", per node and
// per CPU in Slurm before 21.08, are multiplied.
std::optional<int64_t> parse_slurm_mib(std::string_view text, int64_t nodes, int64_t cpus);

// Equal slices of GPUs: "gres/gpu:a100_1g.5gb=2" is 2 slices of 142 thousandths of a GPU.
struct GpuSlices {
  int64_t count = 0;
  int32_t gpu_milli = 0;
  friend bool operator==(const GpuSlices&, const GpuSlices&) = default;
};

// Contents of "billing=4,cpu=4,gres/gpu:a100=2,gres/gpu=2,mem=4000M,node=1". -1: not listed.
struct Tres {
  int64_t gpus = -1;  // whole GPUs, without slices
  int64_t cpus = -1, nodes = -1, mem_mib = -1;
  int64_t shards = -1, mps = -1;  // gres/shard; gres/mps: hundredths of a GPU
  std::vector<GpuSlices> slices;  // MIG
  std::string gpu_type;           // if only one type is named
  size_t num_gpu_types = 0;       // number of types named

  bool names_gpus() const { return gpus >= 0 || shards >= 0 || mps >= 0 || !slices.empty(); }
};

// Returns nothing if the text is not a list of resources.
std::optional<Tres> parse_tres(std::string_view text);

// Parses a MIG profile ("a100_1g.5gb", "1g.10gb", "1c.3g.20gb") to thousandths of a GPU, rounded
// down so that a GPU's slices fit on it; 1000: a whole GPU. Sets `type` to the text before the
// profile, "a100".
std::optional<int32_t> parse_mig(std::string_view text, std::string& type);

// Parses "CANCELLED by 1000", "CANCELLED+", "cancelled" or "CA" to "CANCELLED". Empty if the text
// does not begin with a job state.
std::string_view parse_slurm_state(std::string_view text);

// Returns whether the text is a job number: "7", "7_3", "7_[4-9%2]", "7+1", each also with a step
// such as ".batch".
bool is_slurm_id(std::string_view text);

// Returns the GPUs per node in "gpu:2", "gpu:a100:4" or "gres:gpu:2,craynetwork:1", as Slurm before
// 21.08 printed ReqGRES. 0: names no GPUs.
std::optional<int64_t> parse_gres_gpus(std::string_view text);

}  // namespace yard
