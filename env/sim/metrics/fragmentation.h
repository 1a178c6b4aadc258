// Fragmentation metrics of one state: free GPUs which jobs cannot use, by four published
// definitions. docs/reference/metrics.md gives these definitions and their sources.
#pragma once

#include <cstdint>
#include <vector>

#include "env/sim/rules/shape.h"

namespace yard {

// Numbers of free GPUs. A GPU shared by several jobs counts with its free fraction.
struct FreeGpuCounts {
  double free = 0;
  double unusable = 0;       // free GPUs that a random task of the workload cannot use, on average
  double partial = 0;        // free GPUs on nodes with at least one GPU in use
  double stranded = 0;       // free GPUs on nodes where no GPU task of the workload fits
  double largest_block = 0;  // largest number of free whole GPUs on one node
  double ideal_block = 0;    // largest_block if all free GPUs were on as few nodes as possible
};

// A task of the workload and its frequency. A job that requests only a number of GPUs counts as one
// task for each node that the job fills, and one task for its remaining GPUs.
struct TaskFrequency {
  int32_t shape = kNone;  // the shape of the task's job; kNone: a number of GPUs only
  TaskNeed need{};
  double share = 0;  // share of this task among all tasks, from 0 to 1
};

class Fragmentation {
 public:
  // Requires: `fixed` outlives this object.
  explicit Fragmentation(const SimModel& fixed);

  // Returns the metrics of `state`, recomputing only nodes which changed since the last call.
  const FreeGpuCounts& of(const SimState& state);

 private:
  struct NodeFreeGpus {
    double free = 0, unusable = 0;  // [GPUs]
    bool stranded = false;
  };
  bool update_if_changed(const SimState& s, int32_t node);
  NodeFreeGpus compute(const SimState& s, int32_t node) const;

  const SimModel& fixed_;
  std::vector<TaskFrequency> mix_;
  std::vector<NodeFreeGpus> parts_;  // (M)
  bool fresh_ = true;                // true until the first call of of()
  // Values at the last call of of(). share_milli_ and share_mem_mib_ are empty unless jobs can
  // share GPUs.
  std::vector<uint64_t> free_mask_, shared_mask_;     // (M)
  std::vector<int64_t> cpu_milli_, mem_mib_;          // (M)
  std::vector<int32_t> share_milli_, share_mem_mib_;  // (G)
  FreeGpuCounts last_;
};

}  // namespace yard
