// What an engine asks for decisions: the seam between simulators and schedulers.
#pragma once

#include "env/sim/plan.h"
#include "env/sim/view.h"

namespace yard {

// Whoever decides: a policy with its memory, or a test.
class Decider {
 public:
  virtual ~Decider() = default;
  virtual Level level() const = 0;
  virtual void decide(const View& view, Draft& draft) = 0;
};

}  // namespace yard
