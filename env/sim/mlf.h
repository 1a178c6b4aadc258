// What MLFS (Wang, Liu and Shen, CoNEXT 2020) makes of jobs and servers, for the policy MLF-H and
// the agent that learns from it: a job as its equations see it (mlf_priority.h), and how near a
// server is to an ideal one (section 3.3).
//
// Ours, where the paper leaves it open: an iteration is a minute of work; a job without urgency has
// 1; how long it will run is Helios' rolling estimate in the stead of a fitted predictor; role
// groups that have GPUs are the partitions of its model, all of one size; where nobody measures a
// loss, it is taken to fall alike in every iteration.
#pragma once

#include <cstdint>

#include "env/predict/rolling_estimate.h"
#include "env/sim/mlf_priority.h"
#include "env/sim/task_placer.h"
#include "env/sim/view.h"

namespace yard {

MlfJob mlf_job(const View& view, const RollingEstimate& estimate, int32_t slot);
int32_t mlf_partitions(const View& view, int32_t slot);
// Eq. 6 of its first task.
double mlf_priority(const View& view, const RollingEstimate& estimate, const MlfWeights& weights,
                    int32_t slot);

// Minus the distance to the ideal server, which is as little used as the least used one and has the
// job's other tasks on it; servers that a task would overload, which have more than a share of
// `overloaded` of their CPUs or memory in use then, come last. GPUs are held whole and overload
// nobody. Requires: view and placer outlive it; used before the draft changes.
TaskPlacer::Score nearest_ideal_server(const View& view, const TaskPlacer& placer,
                                       double overloaded);

}  // namespace yard
