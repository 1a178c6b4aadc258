// Compares states and checks their consistency. Two states are equal if everything that affects the
// future is equal. The bytes of equal states may differ, since heaps and free lists depend on
// history.
#pragma once

#include <cstdint>
#include <string>

#include "env/sim/state/columns.h"
#include "env/sim/state/state.h"

namespace yard {

// Returns a hash of the live jobs in the order of the job table, the queue and every GPU.
uint64_t digest(const SimModel& fixed, const SimState& state);

// Returns a broken invariant of the state, or "". Invariants: each GPU is free, down or owned once;
// lists and counters agree; each job holds all that it requested, or nothing.
std::string broken_invariant(const SimModel& fixed, const SimState& state);

}  // namespace yard
