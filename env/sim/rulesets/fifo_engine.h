// FIFO engine of published rule sets: waiting jobs start in order, and the first that does not fit
// blocks the others or is skipped. No job is preempted.
#pragma once

#include <cstdint>

#include "env/sim/rulesets/slot_sim.h"

namespace yard {

struct FifoRules {
  const GangPlacer* placer = nullptr;  // null: free GPUs in node order
  bool skips = false;                  // jobs that do not fit are skipped
  bool shortest_first = false;         // the queue is sorted by run time, then by arrival
  // Events happen at multiples of `tick_s`. A run takes whole ticks, at least `min_ticks`.
  int64_t tick_s = 1;
  int64_t min_ticks = 0;
};

// Ends, arrivals and starts at one time are one event, in that order. A run of no tick ends in the
// next event. Throws RunError if jobs wait for ever. Requires: not `skips` and `shortest_first`.
Outcome replay_fifo(JobSlotSim& stage, const FifoRules& rules, const Replay& replay);

}  // namespace yard
