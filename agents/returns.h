// How good decisions were: advantages for the policy, targets for the critic.
// Dims: I samples, N worlds.
#pragma once

#include <span>
#include <vector>

#include "agents/rollout.h"

namespace yard {

struct Returns {
  std::vector<float> advantage;     // (I)
  std::vector<float> target;        // (I)  for the critic; empty without one
  std::vector<int64_t> drawn = {};  // what to learn from, where a replay is kept; else all new
};

// Generalised advantage estimates in continuous time. With delta_t = r_t + g_t V_{t+1} - V_t,
//   A_t = delta_t + g_t l_t A_{t+1},   g_t = exp(-dt_t / horizon),   l_t = lambda if dt_t > 0 else
//   1
// (Schulman et al. 2016, eq. 16; the discount by elapsed time as in Bradtke and Duff 1994:
// decisions at the same moment neither discount nor forget). A terminated episode has no future; a
// truncated one is worth `final_value`; the last sample of a world is worth `last_value` (N).
// `reward_scale` multiplies rewards.
Returns time_aware_gae(const Rollout& rollout, std::span<const float> last_value, double horizon_s,
                       double lambda, double reward_scale);

// The same where what counts is the mean reward a second, `rate`, and nothing is discounted:
//   delta_t = r_t - rate dt_t + V_{t+1} - V_t,   A_t = delta_t + l_t A_{t+1}
// (Zhang and Ross, "On-policy deep reinforcement learning for the average-reward criterion", 2021,
// with the time between decisions as in Bradtke and Duff). `rate` is of scaled rewards.
Returns average_reward_gae(const Rollout& rollout, std::span<const float> last_value, double rate,
                           double lambda, double reward_scale);

// What a decision earned beyond what the other worlds of its group, which play the same jobs,
// earned from the same moment on:
//   A_i = G_i - mean_m G_m(t_i),   G_i = r_i + g_i G_{i+1}
// with G_m(t) between two decisions of m taken in proportion (Mao et al., "Learning scheduling
// algorithms for data processing clusters", 2019, section 5.3: the noise of arrivals cancels).
// Where episodes of a group were cut off, all are compared up to the first cut only.
// Requires: whole episodes, one a world.
Returns group_advantages(const Rollout& rollout, int worlds, int group, double horizon_s,
                         double reward_scale);

// Rewards relative to the heuristic, which the first world of each group follows on the same jobs:
//   r_i <- r_i - integral from t_i to t_i + dt_i of the heuristic's reward rate,
// the last one less also what the heuristic is paid after that; so that
//   sum_i r_i = G - G_heuristic
// (the improvement over a base scheduler that SchedInspector is paid, Zhang et al., HPDC 2022, here
// as it accrues). Requires: whole episodes, one a world.
void make_relative(Rollout& rollout, int worlds, int group);

}  // namespace yard
