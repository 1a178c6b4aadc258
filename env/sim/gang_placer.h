// Where the GPUs of a gang come from under a published rule set.
#pragma once

#include <cstdint>

#include "env/sim/state.h"

namespace yard {

class GangPlacer {
 public:
  virtual ~GangPlacer() = default;
  // Returns the number of pieces, 0 where the job has to wait. `free` (M): free GPUs by node; `out`
  // has room for a piece a node.
  virtual int32_t place(const int32_t* free, int32_t gpus, Piece* out) const = 0;
};

}  // namespace yard
