// The two preemptive schedulers of the rule set `lucid`.
#pragma once

#include <cstdint>

#include "env/sim/rulesets/slot_sim.h"

namespace yard {

struct LucidConfig {
  int64_t preempt_s = 40;
  int64_t preempt_large_s = 60;
  int64_t limit_gpu_s = 18000;
  int64_t round_s = 60;

  void fields(auto& f) {
    f("preempt_s", preempt_s, 0, 1'000'000, "work added to a preempted job of up to 8 GPUs");
    f("preempt_large_s", preempt_large_s, 0, 1'000'000,
      "work added to a preempted job of more than 8 GPUs");
    f("limit_gpu_s", limit_gpu_s, 0, 1'000'000'000'000,
      "tiresias: attained service, in GPU-seconds, beyond which a job has low priority");
    f("round_s", round_s, 1, 1'000'000, "tiresias: time between decisions");
  }
};

enum class LucidOrder { kRemaining, kTwoLevels };  // srtf, tiresias

// `placer` null: free GPUs in node order. Throws RunError if jobs wait for ever.
Outcome replay_preemptive(SlotSim& stage, LucidOrder order, const LucidConfig& config,
                          const GangPlacer* placer);

}  // namespace yard
