// Experience: T steps of N worlds, jobs ragged, and what became of each step.
// Dims: T steps, N worlds, R rows of all steps, F, C features, A actions. Sample i = t * N + n.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "agents/job_scorer_net.h"
#include "env/batch/batch_env.h"

namespace yard {

class Rollout {
 public:
  Rollout(int steps, int worlds) : steps_(steps), worlds_(worlds) {}

  void clear();

  // Copies what the worlds see now.
  void add_observation(const BatchEnv& env);

  // What was done there, and what came of it.
  std::vector<int32_t> action;     // (T * N)
  std::vector<float> log_prob;     // (T * N)
  std::vector<float> value;        // (T * N)
  std::vector<float> reward;       // (T * N)  minus job-seconds
  std::vector<float> dt_s;         // (T * N)
  std::vector<Ending> ending;      // (T * N)
  std::vector<float> final_value;  // (T * N)  of a truncated episode's last sight, else 0

  // The samples `index` as one batch. Its tensors own their memory.
  RaggedBatch batch(std::span<const int64_t> index) const;

  int steps() const { return steps_; }
  int worlds() const { return worlds_; }
  int64_t size() const { return static_cast<int64_t>(rows_.size()); }

 private:
  int steps_, worlds_;
  std::vector<float> jobs_;      // (R, F)
  std::vector<int64_t> offset_;  // (T * N) first row of a sample
  std::vector<int32_t> rows_;    // (T * N)
  std::vector<float> cluster_;   // (T * N, C)
  std::vector<float> prior_;     // (T * N, A)
};

// What the worlds see now, or what the truncated ones saw last, as one batch.
RaggedBatch present_batch(const BatchEnv& env);
RaggedBatch final_batch(const BatchEnv& env);

struct Returns {
  std::vector<float> advantage;  // (T * N)
  std::vector<float> target;     // (T * N)  for the value
};

// Generalised advantage estimates in continuous time. With delta_t = r_t + g_t V_{t+1} - V_t,
//   A_t = delta_t + g_t l_t A_{t+1},   g_t = exp(-dt_t / horizon),   l_t = lambda if dt_t > 0 else 1
// (Schulman et al. 2016, eq. 16; the discount by elapsed time as in Bradtke and Duff 1994: decisions
// at the same moment neither discount nor forget). A terminated episode has no future; a truncated
// one is worth `final_value`; the last step is worth `last_value` (N).
// `reward_scale` multiplies rewards.
Returns time_aware_gae(const Rollout& rollout, std::span<const float> last_value, double horizon_s,
                       double lambda, double reward_scale);

}  // namespace yard
