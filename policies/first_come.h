// First-come-first-served scheduling for policies that only choose the node of each task.
#pragma once

#include "env/sim/placement/task_placer.h"
#include "env/sim/view/plan.h"

namespace yard {

// Starts waiting jobs in order of arrival, each task on the node with the highest score at that
// moment. Skips jobs without a placement and later jobs with an identical request.
void start_first_come(const View& view, const TaskPlacer::Score& score, Draft& draft);

}  // namespace yard
