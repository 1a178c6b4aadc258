// Fragmentation metrics of one state: free GPUs which waiting jobs cannot use, by four published
// definitions. Definitions and sources: docs/reference/metrics.md.
#pragma once

#include <cstdint>
#include <vector>

#include "env/sim/rules/shape.h"

namespace yard {

// In GPUs. A shared GPU counts with its free fraction.
struct Fragments {
  double free = 0;
  double unusable = 0;       // expected GPUs which a task drawn from the workload cannot use
  double partial = 0;        // on nodes with at least one GPU not free
  double stranded = 0;       // on nodes where no GPU task of the workload fits
  double largest_block = 0;  // most free whole GPUs on one node
  double ideal_block = 0;    // largest_block if all free GPUs were consolidated
};

// A task of the workload and its frequency. A plain job counts as a task for each node that the job
// fills, and a task for the rest.
struct TaskFrequency {
  int32_t shape = kNone;  // the task's shape; kNone: plain
  TaskNeed need{};
  double share = 0;  // of all tasks; the shares sum to 1
};

class Fragmentation {
 public:
  // Requires: `fixed` outlives this.
  explicit Fragmentation(const SimModel& fixed);

  // Returns the metrics of a state. Recomputes only nodes which changed since the last call.
  const Fragments& of(const SimState& state);

 private:
  struct NodeFragments {
    double free = 0, unusable = 0;  // [GPUs]
    bool stranded = false;
  };
  bool changed(const SimState& s, int32_t node);
  NodeFragments compute(const SimState& s, int32_t node) const;

  const SimModel& fixed_;
  std::vector<TaskFrequency> mix_;
  std::vector<NodeFragments> parts_;  // (M)
  bool fresh_ = true;                 // of() was not called yet
  // Values at the last call; the columns of GPUs only if GPUs can be shared.
  std::vector<uint64_t> free_mask_, shared_mask_;     // (M)
  std::vector<int64_t> cpu_milli_, mem_mib_;          // (M)
  std::vector<int32_t> share_milli_, share_mem_mib_;  // (G)
  Fragments last_;
};

}  // namespace yard
