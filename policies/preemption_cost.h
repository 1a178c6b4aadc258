// The cost of a preemption, as orders weigh it: how long a job's GPUs do no work, when it stops and
// when it starts again.
#pragma once

#include <cstdint>

#include "env/sim/view/view.h"

namespace yard {

inline int64_t preemption_cost_us(const View& view, int32_t slot) {
  return view.costs().save_us + view.costs().restore(view.gpus(slot));
}

}  // namespace yard
