// When are two states the same? When everything that can matter later is: not their bytes, since
// heaps and free lists remember history.
#pragma once

#include <cstdint>
#include <string>

#include "env/sim/columns.h"
#include "env/sim/state.h"

namespace yard {

// Returns a hash of jobs by their index in the table, the queue in its order, and every GPU.
uint64_t digest(const Fixed& fixed, const ClusterState& state);

// Returns what is wrong with a state, "" if nothing is: each GPU free or owned once, lists and
// counters agree, every job owns what it asked for or nothing.
std::string broken_invariant(const Fixed& fixed, const ClusterState& state);

}  // namespace yard
