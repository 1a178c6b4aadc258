// How much of what is free is of no use, by four published definitions, for the state of a moment.
// docs/metrics.md has the definitions and their sources.
#pragma once

#include <cstdint>
#include <vector>

#include "env/sim/shape.h"

namespace yard {

// In GPUs; parts of shared ones count as what they are.
struct Fragments {
  double free = 0;
  double unusable = 0;  // expected over the tasks of the workload: of no use to the next of them
  double partial = 0;   // on nodes of which some GPU is not free
  double stranded = 0;  // on nodes where no task of the workload that needs a GPU fits
  double largest_block = 0;  // free whole GPUs of the node that has most of them
  double ideal_block = 0;    // the same if those that are free lay together
};

// One task of the workload's jobs, and how often it is asked for. A plain job counts as one task a
// node that it fills, since that is how it runs best.
struct TaskShare {
  int32_t shape = kNone;  // of which it is a task; kNone: plain
  TaskNeed need{};
  double share = 0;  // of all tasks; together 1
};

std::vector<TaskShare> task_mix(const Fixed& fixed);

class Fragmentation {
 public:
  // Requires: `fixed` outlives this.
  explicit Fragmentation(const Fixed& fixed);

  // Looks anew only at nodes that changed since the last call.
  const Fragments& of(const ClusterState& state);

 private:
  struct NodePart {
    double free = 0, unusable = 0;  // [GPUs]
    bool stranded = false;
  };
  bool changed(const ClusterState& s, int32_t node);
  NodePart look(const ClusterState& s, int32_t node) const;

  const Fixed& fixed_;
  std::vector<TaskShare> mix_;
  std::vector<NodePart> parts_;  // (M)
  bool fresh_ = true;            // nothing was seen yet
  // What was seen of the nodes and, where parts of GPUs are held, of these.
  std::vector<uint64_t> free_mask_, shared_mask_;     // (M)
  std::vector<int64_t> cpu_milli_, mem_mib_;          // (M)
  std::vector<int32_t> share_milli_, share_mem_mib_;  // (G)
  Fragments last_;
};

}  // namespace yard
