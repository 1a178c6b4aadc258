// How Slurm's sacct writes durations, memory, states, job numbers and trackable resources (TRES).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace yard {

// "1-02:00:00", "00:10:00", "05:30" or "00:00:08.125" to seconds, the fraction cut off;
// also "1 days 02:00:00", as pandas writes it.
std::optional<int64_t> parse_slurm_s(std::string_view text);

// "4000M", "16G", "62.50G" or "512" (MiB) to MiB, rounded up. "4Gn" and "2Gc", as Slurm
// before 21.08 says memory of each node and each CPU, are multiplied.
std::optional<int64_t> parse_slurm_mib(std::string_view text, int64_t nodes, int64_t cpus);

// Slices of GPUs, each on its own: "gres/gpu:a100_1g.5gb=2" holds 2 of 142 thousandths.
struct GpuSlices {
  int64_t count = 0;
  int32_t gpu_milli = 0;
  friend bool operator==(const GpuSlices&, const GpuSlices&) = default;
};

// What "billing=4,cpu=4,gres/gpu:a100=2,gres/gpu=2,mem=4000M,node=1" says; -1: nothing.
struct Tres {
  int64_t gpus = -1;  // whole ones, without slices
  int64_t cpus = -1, nodes = -1, mem_mib = -1;
  int64_t shards = -1, mps = -1;  // gres/shard; gres/mps: hundredths of a GPU
  std::vector<GpuSlices> slices;  // MIG
  std::string gpu_type;           // of the only type that is named
  size_t num_gpu_types = 0;       // that are named

  bool names_gpus() const { return gpus >= 0 || shards >= 0 || mps >= 0 || !slices.empty(); }
};

// Nothing where the text is no such list.
std::optional<Tres> parse_tres(std::string_view text);

// "a100_1g.5gb", "1g.10gb" or "1c.3g.20gb", as MIG profiles are named, to thousandths of a GPU,
// rounded down so that a GPU's slices fit on it; 1000: a whole one. `type` becomes what stands
// before the profile, "a100".
std::optional<int32_t> parse_mig(std::string_view text, std::string& type);

// "CANCELLED by 1000", "CANCELLED+", "cancelled" or "CA" to "CANCELLED"; empty where the text
// begins with no state of a job.
std::string_view parse_slurm_state(std::string_view text);

// Whether the text is a job's number: "7", "7_3", "7_[4-9%2]", "7+1", each with ".batch" or the
// like for a step.
bool is_slurm_id(std::string_view text);

// GPUs of each node in "gpu:2", "gpu:a100:4" or "gres:gpu:2,craynetwork:1": what Slurm before 21.08
// printed as ReqGRES. 0 where it names none.
std::optional<int64_t> parse_gres_gpus(std::string_view text);

}  // namespace yard
