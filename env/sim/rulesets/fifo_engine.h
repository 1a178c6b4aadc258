// FIFO engine of published rule sets: waiting jobs start in order, and a job that does not fit
// blocks all later jobs or is skipped. No job is preempted.
#pragma once

#include <cstdint>

#include "env/sim/rulesets/slot_sim.h"

namespace yard {

struct FifoRules {
  const GangPlacer* placer = nullptr;  // null: takes free GPUs in node order
  bool skips = false;                  // jobs that do not fit are skipped
  bool shortest_first = false;         // the queue is sorted by run time, then by arrival
  // Events happen at multiples of `tick_s`. A job runs for whole ticks, at least `min_ticks`.
  int64_t tick_s = 1;
  int64_t min_ticks = 0;
};

// Job ends, arrivals and starts at one time are one event, in this order. A job of 0 ticks ends in
// the next event. Throws RunError if jobs wait for ever. Requires: !(skips && shortest_first).
Outcome replay_fifo(RuleSetSimBySlot& sim, const FifoRules& rules, const Replay& replay);

}  // namespace yard
