#include "agents/learners/learner.h"

#include <algorithm>
#include <cmath>

namespace yard {

// Inverse of the cumulative distribution. If rounding leaves the draw beyond the last probability,
// returns the last legal action.
int32_t Learner::pick_action(const ActionDistribution& o, Rng& rng) const {
  const double u = rng.uniform();
  int32_t last = o.nothing;
  double sum = 0;
  for (int32_t choice = 0; choice <= o.num_rows(); ++choice) {
    const int32_t action = o.action_of_index(choice);
    if (!o.mask[action]) continue;
    sum += std::exp(static_cast<double>(o.log_prob[static_cast<size_t>(choice)]));
    last = action;
    if (u < sum) return action;
  }
  return last;
}

SampledAction Learner::act(const ActionDistribution& o, Rng& rng) const {
  const double explore = requirements().explore;
  std::vector<int32_t> explorable;  // legal actions
  for (int32_t choice = 0; choice <= o.num_rows() && o.exploration_mask != nullptr && explore > 0;
       ++choice) {
    const int32_t action = o.action_of_index(choice);
    if (o.mask[action] && o.exploration_mask[action]) explorable.push_back(action);
  }
  if (explorable.empty()) {
    const int32_t action = pick_action(o, rng);
    return {action, o.log_prob_of(action)};
  }
  const auto count = static_cast<uint32_t>(explorable.size());
  const int32_t action =
      rng.uniform() < explore ? explorable[rng.below(count)] : pick_action(o, rng);
  const double of_exploration = std::ranges::count(explorable, action) > 0 ? 1.0 / count : 0.0;
  const double of_policy = std::exp(static_cast<double>(o.log_prob_of(action)));
  return {action,
          static_cast<float>(std::log((1 - explore) * of_policy + explore * of_exploration))};
}

}  // namespace yard
