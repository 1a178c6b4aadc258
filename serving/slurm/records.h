// What the agent knows of Slurm's jobs and nodes, whichever version printed it.
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
  std::string id;  // as scontrol takes it: "17", or "8_3" for a task of an array
  // Names, to scontrol, all jobs of its record in squeue's list: waiting tasks of an array share
  // one.
  std::string record;
  std::string state;  // "PENDING", "RUNNING", ...: without flags
  bool completing = false;
  std::string reason;  // why it waits, as Slurm says
  std::string name, user, account, partition, qos;
  std::string array;  // number of its array; empty: none
  std::string admin_comment;
  int restarts = 0;
  bool may_requeue = false;
  int nodes = 1, cpus = 1, cpus_per_node = 0;
  int64_t mem_mib = 0;                        // of all its nodes, as Slurm counts it; 0: unknown
  double submit_s = 0;                        // Unix time, as all times here
  double eligible_s = 0;                      // when it may start; its lease ends then
  double start_s = 0;                         // of the current run
  double limit_s = 0;                         // 0: none
  std::string required_nodes;                 // list of nodes, as Slurm writes it
  std::string node_list;                      // nodes that it holds
  std::optional<GpuRequest> per_node;         // --gres=gpu:2, --gpus-per-node=2
  std::optional<GpuRequest> per_job;          // --gpus=2
  std::optional<std::vector<HeldGpus>> held;  // empty: Slurm's text was not understood
  std::string not_understood;  // which of its wishes the agent leaves to Slurm; empty: none

  bool waits() const { return state == "PENDING" && !completing; }
  bool runs() const { return state == "RUNNING" && !completing; }
  std::string run() const { return id + "/" + std::to_string(restarts); }  // names one run of it
};

struct SlurmNode {
  std::string name;
  std::vector<std::string> partitions;
  std::string gpu_type;
  int gpus = 0;
  std::set<int> used;       // indices of GPUs in use
  bool understood = false;  // false: all its GPUs count as held
  std::string state;        // "idle", "mixed", "allocated", with flags: "idle+drain"
  bool usable = false;      // Slurm starts jobs on it
  int cpus = 0, used_cpus = 0;
  int64_t mem_mib = 0, used_mem_mib = 0;
};

// One look at the cluster.
struct Listing {
  std::vector<SlurmJob> jobs;
  std::vector<SlurmNode> nodes;
  std::vector<std::string> odd;  // records that could not be read, with the reason
};

}  // namespace yard::slurm
