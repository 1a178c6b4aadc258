// Records of Slurm's jobs and nodes, in one form for all versions of Slurm.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace yard::slurm {

// GPUs of one node that a job holds.
struct HeldGpus {
  std::string node;
  std::vector<int> gpus;  // indices
};

// A request for GPUs of one kind.
struct GpuRequest {
  int gpus = 0;
  std::string type;  // empty: any
};

struct SlurmJob {
  std::string id;  // id for scontrol: "17", or "8_3" for a task of an array
  // Id for scontrol of the job's record in the list of squeue. Waiting tasks of an array share a
  // record.
  std::string record;
  std::string state;  // state without flags: "PENDING", "RUNNING", ...
  bool completing = false;
  std::string reason;  // why the job waits, as Slurm says
  std::string name, user, account, partition, qos;
  std::string array;  // number of the job's array; empty: none
  std::string admin_comment;
  int restarts = 0;
  bool may_requeue = false;
  int nodes = 1, cpus = 1, cpus_per_node = 0;
  int64_t mem_mib = 0;                        // memory on all nodes of the job; 0: unknown
  double submit_s = 0;                        // Unix time of the job's submission
  double eligible_s = 0;                      // Unix time from which Slurm may start the job
  double start_s = 0;                         // Unix time of the current run's start
  double end_s = 0;                           // Unix time of the end of an ended job
  double limit_s = 0;                         // 0: none
  std::string required_nodes;                 // required nodes, as Slurm writes lists
  std::string node_list;                      // nodes that the job holds
  std::optional<GpuRequest> per_node;         // --gres=gpu:2, --gpus-per-node=2
  std::optional<GpuRequest> per_job;          // --gpus=2
  std::optional<std::vector<HeldGpus>> held;  // empty: Slurm's text cannot be parsed
  std::string not_understood;  // option of the job that only Slurm can handle; empty: none

  bool waits() const { return state == "PENDING" && !completing; }
  bool runs() const { return state == "RUNNING" && !completing; }
  std::string run() const { return id + "/" + std::to_string(restarts); }  // names a run of the job
};

struct SlurmNode {
  std::string name;
  std::vector<std::string> partitions;
  std::string gpu_type;
  int gpus = 0;
  std::set<int> used;       // indices of GPUs in use
  bool understood = false;  // false: all GPUs of the node count as held
  std::string state;        // state with flags, such as "mixed" or "idle+drain"
  bool usable = false;      // whether Slurm starts jobs on the node
  int cpus = 0, used_cpus = 0;
  int64_t mem_mib = 0, used_mem_mib = 0;
};

// The jobs and nodes of a cluster at one moment.
struct Listing {
  std::vector<SlurmJob> jobs;
  std::vector<SlurmJob> ended;  // jobs that ended within the last minutes (MinJobAge)
  std::vector<SlurmNode> nodes;
  std::vector<std::string> odd;  // records that could not be read, with the reason
};

}  // namespace yard::slurm
