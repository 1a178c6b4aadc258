// Interface between simulation engines and schedulers: an engine calls decide() for each decision.
#pragma once

#include "env/sim/view/plan.h"
#include "env/sim/view/view.h"

namespace yard {

// A scheduler: a policy with its memory, or a test's substitute.
class Decider {
 public:
  virtual ~Decider() = default;
  virtual InformationLevel level() const = 0;  // level of information of views passed to decide()
  virtual void decide(const View& view, Draft& draft) = 0;  // Adds the decided changes to `draft`.
};

}  // namespace yard
