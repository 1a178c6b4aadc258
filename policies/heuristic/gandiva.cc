// Time slicing as in Gandiva (Xiao et al., OSDI 2018): jobs run in turn, first come, first served.
// A job that waited when a slice began may preempt jobs that ran then and have run for at least
// half a slice. The longest-running is preempted first and goes to the end of the queue. The
// cluster's preemption costs apply. `slice_per_cost` can lengthen slices for costly preemptions.
#include <algorithm>
#include <utility>

#include "policies/order.h"

namespace yard {
namespace {

// Beyond any position in the queue: jobs that had their slice come after all waiting jobs.
constexpr double kAfterTheQueue = 1e15;

struct Config : PlacementConfig {
  double slice_s = 60;
  double slice_per_cost = 0;
  Config() { placement = "best-fit"; }
  void fields(FieldList& f) {
    PlacementConfig::fields(f);
    f("slice_s", slice_s, 10.0, 1e6,
      "length of a slice, in seconds; waiting jobs may preempt once per slice");
    f("slice_per_cost", slice_per_cost, 0.0, 1e4,
      "minimum length of a slice as a multiple of the preemption cost; 0: none");
  }
};

class Gandiva final : public PlacementRulePolicy<Config> {
 public:
  using PlacementRulePolicy::PlacementRulePolicy;

  size_t memory_bytes(const View& view) const override { return RankedQueue::bytes(view); }
  size_t kept_memory_bytes(const View&) const override { return 0; }

  void decide(const View& view, Memory& memory, Draft& draft) const override {
    if (view.num_waiting() == 0) return;
    const int64_t stop_us = view.preemption_costs().save_us + view.preemption_costs().restore_us;
    const auto least_us =
        static_cast<int64_t>(config_.slice_per_cost * static_cast<double>(stop_us));
    const int64_t slice_us = std::max(static_cast<int64_t>(config_.slice_s * 1e6), least_us);
    const int64_t slice_began_us = view.now_us() / slice_us * slice_us;
    std::vector<RankedJob> had_slice;  // the job that has run longest is last in order
    for (const int32_t slot : view.holder_slots()) {
      const int64_t began_us =
          view.transition_end_us(slot);  // of running: rates may have changed since
      const int64_t ran_us = view.now_us() - began_us;
      if (!view.preemptible(slot) || began_us >= slice_began_us || ran_us < slice_us / 2) continue;
      had_slice.push_back(
          {{kAfterTheQueue + static_cast<double>(ran_us), view.serial(slot)}, slot});
    }
    if (!had_slice.empty() || view.free_gpus() >= view.min_gpus_to_start()) {
      BumpAllocator bump(memory.data());
      RankedQueue ranked(view, bump);
      const auto queue_position = [&](int32_t slot) {
        const bool may_preempt = view.phase_or_rate_since_us(slot) < slice_began_us;
        return static_cast<double>(view.queue_rank(slot)) + (may_preempt ? 0 : 2 * kAfterTheQueue);
      };
      rank_all_waiting(view, ranked, queue_position);
      HeapGpuHolderIterator holders(std::move(had_slice));
      start_or_preempt_in_order(view, ranked, holders, {placement_}, queue_position, draft);
    }
    if (view.num_waiting() > 0 && view.num_holders() > 0) draft.wake_at(slice_began_us + slice_us);
  }
};

const PolicyRegistry::Add<Gandiva> kGandiva{
    "gandiva",
    {.about = "time-slicing: jobs run in turn",
     .source = "Gandiva, OSDI 2018",
     .fidelity =
         "its slices of one minute; saving and restoring hold the GPUs for about 40 s by default, "
         "under 1 s in the paper (--cost-scale 0.025); jobs share no GPU and neither move nor "
         "grow; a large job waits until enough running jobs have had a slice",
     .preemptive = true,
     .fields = describe<Config>}};

}  // namespace
}  // namespace yard
