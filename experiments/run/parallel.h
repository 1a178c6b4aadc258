// Runs independent pieces of work on all cores. The pieces store results by index, so that results
// do not depend on the number of cores.
#pragma once

#include <functional>

namespace yard {

// Calls work(i) for every i in [0, count), on several threads. Returns when all calls are done.
// Rethrows the first exception, after which no further call starts.
void parallel_for_each_index(int count, const std::function<void(int)>& work);

}  // namespace yard
