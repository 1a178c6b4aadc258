// First-come-first-served scheduling for policies that only choose the node of each task.
#pragma once

#include <set>

#include "env/sim/placement/task_placer.h"
#include "policies/queue_order.h"

namespace yard {

// Starts waiting jobs in order of arrival. Each task goes to the node with the highest `score`. A
// job without a placement is skipped, like all later jobs with an identical request.
inline void start_fitting_in_arrival_order(const View& view, const TaskPlacer::Score& score,
                                           Draft& draft) {
  const TaskPlacer placer(view);
  std::set<int32_t> unplaceable;  // request classes whose jobs find no placement
  for (const int32_t slot : waiting_in_order(view, QueueOrder::kArrival)) {
    if (unplaceable.contains(view.request_class(slot))) continue;
    const int32_t n = placer.place(slot, {}, score, draft.scratch());
    if (n == 0 || !draft.start(slot, draft.scratch(), n))
      unplaceable.insert(view.request_class(slot));
  }
}

}  // namespace yard
