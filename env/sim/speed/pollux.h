// Throughput model of Pollux (OSDI 2021, section 3.2) with seven parameters: the time of an
// iteration on K GPUs with m samples each. Evaluated on the CPU, when speed tables are built.
//   T_grad = alpha_c + beta_c m
//   T_sync = 0                            K = 1
//            alpha_r + beta_r (K - 2)     all on one node
//            alpha_n + beta_n (K - 2)     on several nodes
//   T_iter = (T_grad^gamma + T_sync^gamma)^(1 / gamma)     gamma 1: no overlap, 10: nearly complete
#pragma once

#include <cstdint>
#include <span>

#include "env/trace/profiles/profile.h"

namespace yard {

struct PolluxForm {
  double grad_s = 0, grad_per_sample_s = 0;   // alpha_c, beta_c
  double inside_s = 0, inside_per_gpu_s = 0;  // alpha_r, beta_r
  double across_s = 0, across_per_gpu_s = 0;  // alpha_n, beta_n
  double gamma = 1;                           // 1 to 10

  double compute_s(double local_batch) const { return grad_s + grad_per_sample_s * local_batch; }
  double sync_s(int32_t gpus, int32_t nodes) const;
  double combined_s(double compute_s, double sync_s) const;
  double iteration_s(int32_t gpus, int32_t nodes, double local_batch) const {
    return combined_s(compute_s(local_batch), sync_s(gpus, nodes));
  }
};

// Fits the model to measured iteration times, and to compute times if measured, by least squares of
// logarithms. Parameters which `runs` do not determine stay near a guess, so the caller must check
// for runs on one node and on several nodes. Requires: there is at least one run.
PolluxForm fit_pollux(std::span<const MeasuredRun> runs);

}  // namespace yard
