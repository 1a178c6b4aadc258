// Interface of the placement algorithms of published rule sets. Dims: M nodes.
#pragma once

#include <cstdint>

#include "env/sim/state/state.h"

namespace yard {

class GangPlacer {
 public:
  virtual ~GangPlacer() = default;
  // Writes a placement of `gpus` GPUs. Returns the number of pieces, or 0 if the job has to wait.
  // `free` (M): free GPUs by node. Requires: `out` has room for M pieces.
  virtual int32_t place(const int32_t* free, int32_t gpus, Piece* out) const = 0;
};

}  // namespace yard
