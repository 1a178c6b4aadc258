#include "agents/learner.h"

#include <cmath>

namespace yard {

// Inverse of the cumulative distribution. If rounding leaves the draw beyond the last probability,
// returns the last legal action.
int32_t Learner::pick(const Alternatives& o, Rng& rng) const {
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

Acted Learner::act(const Alternatives& o, Rng& rng) const {
  const double explore = wants().explore;
  std::vector<int32_t> hinted;  // legal actions
  for (int32_t choice = 0; choice <= o.rows() && o.hints != nullptr && explore > 0; ++choice) {
    const int32_t action = o.action(choice);
    if (o.mask[action] && o.hints[action]) hinted.push_back(action);
  }
  if (hinted.empty()) {
    const int32_t action = pick(o, rng);
    return {action, o.log_prob_of(action)};
  }
  const auto hints = static_cast<uint32_t>(hinted.size());
  const int32_t action = rng.uniform() < explore ? hinted[rng.below(hints)] : pick(o, rng);
  const double of_hints = std::ranges::count(hinted, action) > 0 ? 1.0 / hints : 0.0;
  const double of_policy = std::exp(static_cast<double>(o.log_prob_of(action)));
  return {action, static_cast<float>(std::log((1 - explore) * of_policy + explore * of_hints))};
}

}  // namespace yard
