// What a preemption costs, as orders weigh it: for how long it keeps a job's GPUs from working, now
// and when the job goes on.
#pragma once

#include <cstdint>

#include "env/sim/view.h"

namespace yard {

inline int64_t preemption_cost_us(const View& view, int32_t slot) {
  return view.costs().save_us + view.costs().restore(view.gpus(slot));
}

}  // namespace yard
