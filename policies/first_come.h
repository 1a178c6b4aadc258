// Schedulers that say where, not who: jobs start in the order in which they came.
#pragma once

#include "env/sim/plan.h"
#include "env/sim/task_placer.h"

namespace yard {

// Starts waiting jobs, first come first served, each task on the node that scores best then. Who
// finds no place lets others go ahead, but not those that ask for the same.
void start_first_come(const View& view, const TaskPlacer::Score& score, Draft& draft);

}  // namespace yard
