// Terms of interference models (interference.h) which see only how much of a node other jobs use:
//   linear      time per work = w . (1, g, c, s)
//   quadratic   the same with squares and products
// g, c: shares of the node's GPUs and CPUs that other jobs use; s: 1 if the job is on several
// nodes. The linear and the quadratic model are those of Chiang and Huang (TRACON, SC 2011).
#pragma once

#include <algorithm>

#include "env/base/core/least_squares.h"
#include "env/scheduling/interference.h"
#include "env/sim/placement/task_placer.h"

namespace yard {

template <bool kQuadratic>
struct NodeLoadTerms {
  using Fit = LeastSquares<kQuadratic ? 10 : 4>;
  using Terms = typename Fit::Terms;

  // Initial weights: a job is twice as slow if other jobs use all GPUs of the node.
  static constexpr Terms kStart = {1, 1};

  static Terms terms(double gpus, double cpus, bool apart) {
    const double s = apart ? 1 : 0;
    if constexpr (kQuadratic) {
      return {1, gpus, cpus, s, gpus * gpus, cpus * cpus, gpus * cpus, gpus * s, cpus * s, s * s};
    } else {
      return {1, gpus, cpus, s};
    }
  }

  // Returns the terms for the highest use by other jobs over the nodes of the job.
  static Terms of(const View& view, const TaskPlacer& placer, int32_t slot) {
    double gpus = 0, cpus = 0;
    int32_t first = kNone;
    bool apart = false;
    for (int32_t p = view.first_part(slot); p != kNone; p = view.next_part(p)) {
      const int32_t node = view.part_node(p);
      if (first == kNone) first = node;
      apart = apart || node != first;
      TaskPlacer::Shares own;
      for (int32_t q = view.first_part(slot); q != kNone; q = view.next_part(q)) {
        if (view.part_node(q) != node) continue;
        own.gpus += static_cast<double>(count_bits(view.part_mask(q))) /
                    std::max(1, view.spec().node_gpus[node]);
        if (!view.shaped(slot)) continue;
        own.cpus +=
            placer.needed_shares(slot, view.part_role_group(q), node).cpus * view.part_tasks(q);
      }
      const TaskPlacer::Shares room = placer.free_shares(node);
      gpus = std::max(gpus, 1 - room.gpus - own.gpus);
      cpus = std::max(cpus, 1 - room.cpus - own.cpus);
    }
    return terms(gpus, cpus, apart);
  }
};

}  // namespace yard
