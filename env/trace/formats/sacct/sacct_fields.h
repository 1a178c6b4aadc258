// Parses durations, memory, states, job ids and trackable resources (TRES) of Slurm's sacct.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace yard {

// Parses a duration, "1-02:00:00", "00:10:00", "05:30" or "00:00:08.125", or "1 days 02:00:00" as
// pandas writes it, to seconds without the fraction.
std::optional<int64_t> parse_slurm_s(std::string_view text);

// Parses an amount of memory, "4000M", "16G", "62.50G" or "512" (MiB), to MiB, rounded up. "4Gn"
// (per node) and "2Gc" (per CPU) of Slurm before 21.08 are multiplied by `nodes` or `cpus`.
std::optional<int64_t> parse_slurm_mib(std::string_view text, int64_t nodes, int64_t cpus);

// Equal slices of GPUs: "gres/gpu:a100_1g.5gb=2" is 2 slices of 142 thousandths of a GPU.
struct GpuSlices {
  int64_t count = 0;
  int32_t gpu_milli = 0;
  friend bool operator==(const GpuSlices&, const GpuSlices&) = default;
};

// Trackable resources, "cpu=4,gres/gpu:a100=2,gres/gpu=2,mem=4000M,node=1"; -1: not listed.
struct Tres {
  int64_t gpus = -1;  // number of whole GPUs, without slices
  int64_t cpus = -1, nodes = -1, mem_mib = -1;
  int64_t shards = -1, mps = -1;  // shares of GPUs (gres/shard), hundredths of a GPU (gres/mps)
  std::vector<GpuSlices> slices;  // MIG
  std::string gpu_type;           // type of the GPUs, if only one type is named
  size_t num_gpu_types = 0;       // number of GPU types named

  bool names_gpus() const { return gpus >= 0 || shards >= 0 || mps >= 0 || !slices.empty(); }
};

// Parses trackable resources; returns nothing if the text is not a list of resources.
std::optional<Tres> parse_tres(std::string_view text);

// Parses a MIG profile ("a100_1g.5gb", "1g.10gb", "1c.3g.20gb") to thousandths of a GPU, rounded
// down so that all slices of a GPU fit on it; 1000 is a whole GPU. Sets `type` to the text before
// the profile, such as "a100".
std::optional<int32_t> parse_mig_gpu_milli(std::string_view text, std::string& type);

// Parses a job state, as in "CANCELLED by 1000", "CANCELLED+", "cancelled" or "CA", to "CANCELLED".
// Returns an empty text if `text` does not begin with a job state.
std::string_view parse_slurm_state(std::string_view text);

// Returns whether the text is the id of a job or of a step: "7", "7_3", "7_[4-9%2]" or "7+1",
// perhaps followed by a step such as ".batch".
bool is_slurm_job_or_step_id(std::string_view text);

// Returns the GPUs per node in "gpu:2", "gpu:a100:4" or "gres:gpu:2,craynetwork:1", as Slurm before
// 21.08 printed ReqGRES; 0 if the text names no GPUs.
std::optional<int64_t> parse_gres_gpus_per_node(std::string_view text);

}  // namespace yard
