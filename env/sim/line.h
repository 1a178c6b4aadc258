// Waiting jobs as one line: who stands first starts, or everybody waits behind. Nobody is
// preempted. What published rule sets call FIFO, and its relatives.
#pragma once

#include <cstdint>

#include "env/sim/stage.h"

namespace yard {

struct LineRules {
  const GangPlacer* placer = nullptr;  // null: GPUs come from wherever they are free
  bool skips = false;                  // who does not fit is passed over
  bool shortest_first = false;         // the line is sorted by run time, then by arrival
  // Things happen at multiples of `tick_s`; a run lasts whole ticks, and so many at least.
  int64_t tick_s = 1;
  int64_t least_ticks = 0;
};

// An end and an arrival at one time are one event: ends, then arrivals, then starts. A run of no
// tick ends in an event of its own right after its start.
// Requires: not both `skips` and `shortest_first`.
Outcome replay_line(Stage& stage, const LineRules& rules, const Replay& replay);

}  // namespace yard
