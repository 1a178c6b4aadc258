// Computes advantages for the policy and targets for the critic. Dims: I samples, N
// environments.
#pragma once

#include <span>
#include <vector>

#include "agents/rollout/rollout.h"

namespace yard {

struct Returns {
  std::vector<float> advantage;     // (I)
  std::vector<float> target;        // (I)  target of the critic; empty without a critic
  std::vector<int64_t> drawn = {};  // samples drawn from replay; empty: learn from all new samples
};

// Generalised advantage estimation in continuous time. With delta_t = r_t + g_t V_{t+1} - V_t,
//   A_t = delta_t + g_t l_t A_{t+1},   g_t = exp(-dt_t / horizon),   l_t = dt_t > 0 ? lambda : 1
// (Schulman et al. 2016, eq. 16; the discount by elapsed time as in Bradtke and Duff 1994).
// Between decisions at the same simulated time, neither the discount nor lambda applies. A
// terminated episode has no future value. A truncated episode bootstraps from `final_value`, the
// last sample of an environment from `last_value` (N). Rewards are multiplied by `reward_scale`.
Returns time_aware_gae(const Rollout& rollout, std::span<const float> last_value, double horizon_s,
                       double lambda, double reward_scale);

// GAE for the average-reward criterion: `rate` is the mean reward per second, and nothing is
// discounted:
//   delta_t = r_t - rate dt_t + V_{t+1} - V_t,   A_t = delta_t + l_t A_{t+1}
// (Zhang and Ross, "On-policy deep reinforcement learning for the average-reward criterion", 2021,
// with the time between decisions as in Bradtke and Duff). `rate` includes `reward_scale`.
Returns average_reward_gae(const Rollout& rollout, std::span<const float> last_value, double rate,
                           double lambda, double reward_scale);

// The return of a decision minus the mean return from the same moment in its group, which plays the
// same jobs:
//   A_i = G_i - mean_m G_m(t_i),   G_i = r_i + g_i G_{i+1}
// m runs over the others of the group; G_m(t) between two decisions of m is interpolated (Mao et
// al., "Learning scheduling algorithms for data processing clusters", 2019, section 5.3: the noise
// of arrivals cancels). If episodes are truncated, returns count only up to the first truncation in
// the group. Requires: one whole episode per environment.
Returns group_advantages(const Rollout& rollout, int worlds, int group_size, double horizon_s,
                         double reward_scale);

// Subtracts the reward of the expert, which the first environment of each group follows:
//   r_i <- r_i - integral from t_i to t_i + dt_i of the expert's reward rate,
// and the last reward also loses what the expert receives afterwards, so that
//   sum_i r_i = G - G_expert
// (SchedInspector's reward, the improvement over a base scheduler, Zhang et al., HPDC 2022, here as
// it accrues). Requires: one whole episode per environment.
void subtract_expert_rewards(Rollout& rollout, int worlds, int group_size);

}  // namespace yard
