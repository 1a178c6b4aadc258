// Reads the resources of a job in Slurm's accounting: GPUs, their type, nodes, CPUs and memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "env/trace/core/job.h"
#include "env/trace/formats/sacct/sacct_fields.h"

namespace yard {

// The resource columns of a row of Slurm's accounting, as far as the row has them.
struct SlurmRequest {
  Tres asked, given;           // ReqTRES, AllocTRES
  int64_t nodes = -1;          // NNodes
  int64_t cpus = -1;           // ReqCPUS
  std::string mem, gpus_each;  // ReqMem; ReqGRES or AllocGRES, GPUs per node
  std::string gpus_each_column = "ReqGRES";
};

// Rules by which the resource columns of a row become the resources of a job.
struct SlurmRequestRules {
  bool allocated = true;      // allocated resources, rather than requested ones, are used if given
  int64_t gpus_per_node = 0;  // GPUs per node of every job, overriding the row; 0: as in the row
  int64_t shards_per_gpu = 0;
};

struct SlurmFlaw {
  std::string column, reason, expected, got;  // column: empty if several columns are concerned
};

// Sets GPUs, allowed types and role groups of `job`, or returns the reason why they cannot be set.
std::optional<SlurmFlaw> set_job_resources(const SlurmRequest& request,
                                           const SlurmRequestRules& rules, Job& job);

}  // namespace yard
