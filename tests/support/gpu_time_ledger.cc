#include "tests/support/gpu_time_ledger.h"

#include <algorithm>

#include "env/sim/rules/rules.h"

namespace yard::testing {

void GpuTimeLedger::observe(const SimState& s) {
  if (now_us_ >= 0) pass(s.head->now_us);
  count(s);
  ended_.resize(static_cast<size_t>(fixed_.jobs.num_jobs));
  for (int32_t slot = 0; slot < s.head->high_water; ++slot) {
    if (s.phase[slot] != Phase::kDone) continue;
    ended_[static_cast<size_t>(s.job[slot])] = {s.attained_us[slot], s.work_done_us[slot],
                                                fixed_.faults ? s.failed[slot] : 0};
  }
}

void GpuTimeLedger::pass(int64_t to_us) {
  const int64_t dt_us = to_us - now_us_;
  spent_.running += dt_us * held_.running;
  spent_.starting += dt_us * held_.starting;
  spent_.unassigned += dt_us * held_.unassigned;
  spent_.down += dt_us * held_.down;
  spent_.free += dt_us * held_.free;
  for (const int64_t at_us : left_at_us_) {
    const int64_t saving = kWholeGpu * (std::min(at_us, to_us) - now_us_);
    spent_.saving += saving;
    spent_.free -= saving;
  }
}

void GpuTimeLedger::count(const SimState& s) {
  now_us_ = s.head->now_us;
  held_ = {};
  left_at_us_.clear();
  for (int32_t slot = 0; slot < s.head->high_water; ++slot) {
    const Phase phase = s.phase[slot];
    if (phase != Phase::kStarting && phase != Phase::kRunning) continue;
    int64_t& milli = phase == Phase::kRunning ? held_.running : held_.starting;
    for (int32_t p = s.first_part[slot]; p != kNone; p = s.part_next[p]) {
      const int32_t each =
          is_gpu_share(fixed_, s, slot, p)
              ? gpu_milli_on_node(fixed_, s.part_node[p],
                                  need_of(fixed_.jobs.shapes, s.shape[slot], s.part_role_group[p]))
              : kWholeGpu;
      milli += int64_t{each} * count_bits(s.part_mask[p]);
    }
  }
  for (int32_t m = 0; m < fixed_.spec.num_nodes; ++m) {
    for (int32_t i = 0; i < fixed_.spec.node_gpus[m]; ++i) {
      const int32_t g = fixed_.spec.node_gpu0[m] + i;
      if ((s.free_mask[m] >> i & 1) != 0) {
        held_.free += kWholeGpu;
        if (s.gpu_ready_us[g] > now_us_) left_at_us_.push_back(s.gpu_ready_us[g]);
      }
      if (fixed_.faults && (s.idle_down_mask[m] >> i & 1) != 0) held_.down += kWholeGpu;
      if (fixed_.jobs.shapes.max_loose_tasks > 0 && (s.shared_mask[m] >> i & 1) != 0) {
        held_.unassigned += s.share_milli[g];
      }
    }
  }
}

}  // namespace yard::testing
