// Reads what a job in Slurm's accounting holds: GPUs, their type, nodes, CPUs and memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "env/trace/core/job.h"
#include "env/trace/formats/sacct/sacct_fields.h"

namespace yard {

// The request in a row, as far as it is given.
struct SlurmRequest {
  Tres asked, given;           // ReqTRES, AllocTRES
  int64_t nodes = -1;          // NNodes
  int64_t cpus = -1;           // ReqCPUS
  std::string mem, gpus_each;  // ReqMem; ReqGRES or AllocGRES, GPUs per node
  std::string gpus_each_column = "ReqGRES";
};

// How the request is interpreted.
struct SlurmRequestRules {
  bool allocated = true;      // allocated resources come before requested ones
  int64_t gpus_per_node = 0;  // of every job, overriding the row; 0: as in the row
  int64_t shards_per_gpu = 0;
};

struct SlurmFlaw {
  std::string column, reason, expected, got;  // column: empty if several are concerned
};

// Sets gpus, gpu_types and groups. Returns the reason if it cannot.
std::optional<SlurmFlaw> set_job_resources(const SlurmRequest& request,
                                           const SlurmRequestRules& rules, Job& job);

}  // namespace yard
