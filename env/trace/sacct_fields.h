// How Slurm's sacct writes durations, memory and trackable resources (TRES).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace yard {

// "1-02:00:00", "00:10:00", "05:30" or "00:00:08.125" to seconds, the fraction cut off.
std::optional<int64_t> parse_slurm_s(std::string_view text);

// "4000M", "16G", "62.50G" or "512" (MiB) to MiB, rounded up. "4Gn" and "2Gc", as Slurm
// before 21.08 says memory of each node and each CPU, are multiplied.
std::optional<int64_t> parse_slurm_mib(std::string_view text, int64_t nodes, int64_t cpus);

// What "billing=4,cpu=4,gres/gpu:a100=2,gres/gpu=2,mem=4000M,node=1" says; -1: nothing.
struct Tres {
  int64_t gpus = -1, cpus = -1, nodes = -1, mem_mib = -1;
  std::string gpu_type;  // of the only type that is named
};

// Nothing where the text is no such list.
std::optional<Tres> parse_tres(std::string_view text);

// GPUs of each node in "gpu:2", "gpu:a100:4" or "gres:gpu:2,craynetwork:1": what Slurm before 21.08
// printed as ReqGRES. 0 where it names none.
std::optional<int64_t> parse_gres_gpus(std::string_view text);

}  // namespace yard
