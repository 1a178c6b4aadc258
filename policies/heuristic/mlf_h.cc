// MLF-H, the heuristic that MLFS learns from (Wang, Liu and Shen, CoNEXT 2020, section 3.3). The
// job of highest priority (mlf_priority.h) starts first. Each task goes to the server nearest to an
// ideal one: as little used as the least used, with the job's other tasks on it. If no waiting job
// was preempted within the last minute, running jobs of the lowest priorities may be preempted for
// jobs that come before them. With `load_control` (MLF-C, mlf_load.h), jobs may be ended early at
// each decision and once a minute, and waiting jobs get their GPUs.
//
// Run times are Helios' rolling estimate instead of a fitted predictor. A GPU held whole overloads
// no server, so no job migrates. mlf.h lists what the paper leaves open.
#include "env/base/core/bump_allocator.h"
#include "env/predict/rolling_estimate.h"
#include "env/scheduling/mlf_config.h"
#include "env/scheduling/preempt_to_start.h"
#include "policies/policy.h"

namespace yard {
namespace {

class MlfH final : public ConfiguredPolicy<MlfsPolicyConfig, InformationLevel::kHistory> {
 public:
  using ConfiguredPolicy::ConfiguredPolicy;

  size_t memory_bytes(const View& view) const override { return RollingEstimate::bytes(view); }

  void decide(const View& view, Memory& memory, Draft& draft) const override {
    BumpAllocator bump(memory.data());
    RollingEstimate estimate(view, bump);
    estimate.on_events(view);
    const RunEstimate total_s = [&](int32_t slot) {
      return estimate.predicted_total_s(view, slot);
    };
    const int32_t max_preemptions = mlfs_preemption_budget(view, total_s, config_.rule);
    if (config_.load.on) {
      run_steps(view, total_s, 0, draft);
      mlfs_end_jobs_early(view, config_.load, config_.rule.round_length_us(), draft);
    }
    run_steps(view, total_s, max_preemptions, draft);
    draft.put_stops_first();
    if (view.num_waiting() > 0 && view.num_holders() > 0 && view.may_preempt()) {
      draft.wake_at(view.now_us() + config_.rule.round_length_us());
    }
  }

 private:
  void run_steps(const View& view, const RunEstimate& total_s, int32_t max_preemptions,
                 Draft& draft) const {
    std::vector<uint8_t> unplaceable(static_cast<size_t>(view.num_slots()), 0);
    for (;;) {
      const MlfsNextStart next =
          mlfs_next_start(view, total_s, config_.rule, max_preemptions, unplaceable.data());
      if (next.slot == kNone) break;
      const int32_t held = view.num_holders();
      if (carry_out(view, next, draft)) {
        max_preemptions -= held + 1 - view.num_holders();  // the started job holds GPUs, too
      } else {
        unplaceable[static_cast<size_t>(next.slot)] = 1;
      }
    }
  }

  bool carry_out(const View& view, const MlfsNextStart& step, Draft& draft) const {
    if (!step.victims.empty()) return preempt_to_start(view, step.slot, step.victims, draft);
    const std::vector<Piece> there = mlfs_place_near_ideal_server(view, config_.rule, step.slot);
    return draft.start(step.slot, there.data(), static_cast<int32_t>(there.size()));
  }
};

const PolicyRegistry::Add<MlfH> kMlfH{
    "mlf-h",
    {.about = "highest priority first, by urgency, training progress, deadline, time left and wait",
     .source = "MLFS, CoNEXT 2020",
     .fidelity =
         "its equations 2 to 6 and constants; days as the unit, minutes of work as iterations and "
         "the rolling estimate are ours; preempts the lowest tenth, migrates no job",
     .level = InformationLevel::kHistory,
     .preemptive = true,
     .fields = describe<MlfsPolicyConfig>}};

}  // namespace
}  // namespace yard
