// Independent pieces of work on all cores. Results go by index, so that they do not depend on how
// many cores there are.
#pragma once

#include <functional>

namespace yard {

// Calls work(i) for every i in [0, count), each on some thread. Returns when all are done; throws
// what the first failing one threw, after which no further piece is begun.
void for_each_index(int count, const std::function<void(int)>& work);

}  // namespace yard
