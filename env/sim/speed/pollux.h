// The seven parameters of Pollux (OSDI 2021, section 3.2): how long an iteration of K GPUs takes,
// each working on m samples.
//   T_grad = alpha_c + beta_c m
//   T_sync = 0                            K = 1
//            alpha_r + beta_r (K - 2)     all on one node
//            alpha_n + beta_n (K - 2)     on several
//   T_iter = (T_grad^gamma + T_sync^gamma)^(1 / gamma)     gamma 1: no overlap, 10: nearly complete
// Evaluated on the host, when tables are made.
#pragma once

#include <cstdint>
#include <span>

#include "env/trace/profile.h"

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

// Returns the form that comes closest, in squared logarithms, to the iterations measured, and to
// their computing parts where those were told apart. A parameter of which the runs say nothing
// stays near a guess: the caller knows whether there was any run inside or across nodes.
// Requires: at least one run.
PolluxForm fit_pollux(std::span<const MeasuredRun> runs);

}  // namespace yard
