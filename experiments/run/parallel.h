// Runs independent pieces of work on all cores. Results are stored by index, so they do not depend
// on the number of cores.
#pragma once

#include <functional>

namespace yard {

// Calls work(i) for every i in [0, count), on several threads. Returns when all calls are done.
// Rethrows the first exception; no further piece starts after it.
void for_each_index(int count, const std::function<void(int)>& work);

}  // namespace yard
