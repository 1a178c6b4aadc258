#include "agents/learner.h"

#include <cmath>

namespace yard {

// Inverse of the cumulative distribution; rounding can leave the number drawn beyond it, then the
// last that is legal.
int32_t Learner::act(const Alternatives& o, Rng& rng) const {
  const double u = rng.uniform();
  int32_t last = o.nothing;
  double sum = 0;
  for (int32_t choice = 0; choice <= o.rows(); ++choice) {
    const int32_t action = o.action(choice);
    if (!o.mask[action]) continue;
    sum += std::exp(static_cast<double>(o.log_prob[static_cast<size_t>(choice)]));
    last = action;
    if (u < sum) return action;
  }
  return last;
}

}  // namespace yard
