// Experience: decisions of many worlds in the order in which they were made, jobs ragged, and what
// came of each; and how good each was. Dims: I samples, N worlds, R rows of all samples, F, C
// features, A actions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "agents/job_scorer_net.h"
#include "env/batch/batch_env.h"

namespace yard {

class Rollout {
 public:
  void clear();

  // Copies what `worlds` see now.
  void add_observations(const BatchEnv& env, std::span<const int32_t> worlds);

  std::vector<int32_t> world;  // (I) written by add_observations()
  std::vector<double> at_s;    // (I) seconds since the episode began, likewise
  // What was done there, and what came of it.
  std::vector<int32_t> action;     // (I)
  std::vector<float> log_prob;     // (I)
  std::vector<float> value;        // (I)  empty without a critic
  std::vector<float> reward;       // (I)  minus job-seconds
  std::vector<float> dt_s;         // (I)
  std::vector<Ending> ending;      // (I)
  std::vector<float> final_value;  // (I)  of a truncated episode's last sight, else 0

  // The samples `index` as one batch. Its tensors own their memory.
  RaggedBatch batch(std::span<const int64_t> index) const;

  int64_t size() const { return static_cast<int64_t>(rows_.size()); }

  // The samples of each world, in order.
  std::vector<std::vector<int64_t>> chains(int worlds) const;

 private:
  std::vector<float> jobs_;      // (R, F)
  std::vector<int64_t> offset_;  // (I) first row of a sample
  std::vector<int32_t> rows_;    // (I)
  std::vector<float> cluster_;   // (I, C)
  std::vector<float> prior_;     // (I, A)
};

// What `worlds` see now, or all worlds saw last before they were cut off, as one batch.
RaggedBatch present_batch(const BatchEnv& env, std::span<const int32_t> worlds);
RaggedBatch final_batch(const BatchEnv& env);

struct Returns {
  std::vector<float> advantage;  // (I)
  std::vector<float> target;     // (I)  for the critic; empty without one
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

// What a decision earned beyond what the other worlds of its group, which play the same jobs,
// earned from the same moment on:
//   A_i = G_i - mean_m G_m(t_i),   G_i = r_i + g_i G_{i+1}
// with G_m(t) between two decisions of m taken in proportion (Mao et al., "Learning scheduling
// algorithms for data processing clusters", 2019, section 5.3: the noise of arrivals cancels).
// Where episodes of a group were cut off, all are compared up to the first cut only.
// Requires: whole episodes, one a world.
Returns group_advantages(const Rollout& rollout, int worlds, int group, double horizon_s,
                         double reward_scale);

}  // namespace yard
