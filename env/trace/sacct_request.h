// What a job of Slurm's accounting holds: GPUs, their type, nodes, CPUs and memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "env/trace/job.h"
#include "env/trace/sacct_fields.h"

namespace yard {

// What a row says, as far as it does.
struct SlurmRequest {
  Tres asked, given;           // ReqTRES, AllocTRES
  int64_t nodes = -1;          // NNodes
  int64_t cpus = -1;           // ReqCPUS
  std::string mem, gpus_each;  // ReqMem; ReqGRES or AllocGRES, GPUs of each node
  std::string gpus_each_column = "ReqGRES";
};

// How it is read.
struct SlurmRequestRules {
  bool allocated = true;      // what was allocated counts before what was requested
  int64_t gpus_per_node = 0;  // of every job, whatever the row says; 0: the row counts
  int64_t shards_per_gpu = 0;
};

struct SlurmFlaw {
  std::string column, reason, expected, got;  // column: empty where it is about several
};

// Sets gpus, gpu_types and groups. Returns why it cannot.
std::optional<SlurmFlaw> fill_request(const SlurmRequest& request, const SlurmRequestRules& rules,
                                      Job& job);

}  // namespace yard
