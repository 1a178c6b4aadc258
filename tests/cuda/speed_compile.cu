// Compiles every look-up of throughput into a kernel. It is not run.
#include "env/sim/speed/contention.h"
#include "env/sim/speed/speed.h"

namespace yard {
namespace {

__global__ void rates(SpeedColumns s, const int32_t* gpus, const int32_t* nodes, double* out,
                      int32_t jobs) {
  const auto i = static_cast<int32_t>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= jobs) return;
  const int32_t job_class = i % s.num_classes;
  const Tier tier = nodes[i] > 1 ? Tier::kRack : Tier::kNode;
  const Pattern by = may_choose_all_reduce(s, job_class) ? Pattern::kTree : Pattern::kNone;
  const int64_t load = link_bytes_per_s(s, job_class, 0, gpus[i], tier, nodes[i], 0, by);
  out[i] = speed_of(s, job_class, 0, gpus[i], tier, nodes[i]) * pair_rate(s, job_class, 0, 0) *
           contention_throughput_factor(exchange_share(s, job_class, 0, gpus[i], tier, nodes[i]),
                             exchange_slowdown(2 * load, capacity_left(load / 2, load))) *
           overload_throughput_factor(12, 8);
}

}  // namespace

void launch(const SpeedColumns& s, const int32_t* gpus, const int32_t* nodes, double* out,
            int32_t jobs) {
  rates<<<(jobs + 127) / 128, 128>>>(s, gpus, nodes, out, jobs);
}

}  // namespace yard
