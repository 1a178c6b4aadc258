// Equality and consistency of states. Two states are equal if all that affects the future is equal;
// their bytes may differ, since heaps and free lists depend on history.
#pragma once

#include <cstdint>
#include <string>

#include "env/sim/state/columns.h"
#include "env/sim/state/state.h"

namespace yard {

// Returns a hash of the live jobs in the order of the job table, the queue and every GPU.
uint64_t digest(const SimModel& fixed, const SimState& state);

// Returns a broken invariant of the state, or "": each GPU is free, down or owned once, lists and
// counters agree, each job holds what it requested or nothing.
std::string broken_invariant(const SimModel& fixed, const SimState& state);

}  // namespace yard
