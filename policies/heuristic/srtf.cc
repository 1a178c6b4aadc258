// Preemptive orders by the rest of a job: `srtf` by its time left, `srsf` by its service left (time
// x GPUs). The true run time (an oracle) or the user's limit determines the rest.
#include "policies/order.h"
#include "policies/remaining_time.h"

namespace yard {
namespace {

struct Config : PlacementConfig {
  double margin = 0;
  double cost_weight = 0;
  void fields(FieldList& f) {
    PlacementConfig::fields(f);
    f("margin", margin, 0.0, 100.0,
      "relative margin by which a waiting job must have less time left to preempt");
    f("cost_weight", cost_weight, 0.0, 100.0,
      "multiple of the preemption cost to subtract from the time left of a running job");
  }
};

template <class RemainingTime, bool kByService>
class ShortestRemaining : public PlacementRulePolicy<Config, RemainingTime::kLevel> {
  using Base = PlacementRulePolicy<Config, RemainingTime::kLevel>;

 public:
  static bool preempts() { return true; }

  using Base::Base;

  size_t memory_bytes(const View& view) const override {
    return RankedQueue::bytes(view) + LinearKeyTreap::bytes(view.num_slots()) +
           VictimIndex::bytes(view, placement_);
  }
  size_t kept_memory_bytes(const View&) const override { return 0; }

  void decide(const View& view, Memory& memory, Draft& draft) const override {
    BumpAllocator bump(memory.data());
    RankedQueue ranked(view, bump);
    LinearKeyTreap held(view.num_slots(), bump);
    VictimIndex victim_index(view, placement_, held, bump);
    const auto waiting_key = [&](int32_t slot) { return rest(view, slot, 0).at(view.now_us()); };
    const auto update = [&](int32_t slot) {
      if (view.holds_gpus(slot) && view.preemptible(slot)) {
        const auto cost_us = static_cast<double>(save_and_restore_us(view, slot));
        held.put(slot, rest(view, slot, config_.cost_weight * cost_us), view.serial(slot));
      } else {
        held.remove(slot);
      }
      victim_index.update(slot);
    };
    push_newly_waiting(view, ranked, waiting_key);
    for (int32_t i = 0; i < view.num_changed(); ++i) update(view.changed_slot(i));
    if (ranked.was_just_created()) {
      for (const int32_t slot : view.holder_slots()) update(slot);
    }
    TreapGpuHolderIterator holders(held, victim_index, view.now_us());
    const PreemptionRule rule{placement_, config_.margin};
    start_or_preempt_in_order(view, ranked, holders, rule, waiting_key, draft);
    for (const Edit& edit : draft.plan().edits) update(edit.job.slot);
    victim_index.refresh();
  }

 private:
  using Base::config_, Base::placement_;

  // Returns the rest of a job less `less_us` of time. Holds until the job is among the changed.
  static LinearDecrease rest(const View& view, int32_t slot, double less_us) {
    LinearDecrease time = RemainingTime::line(view, slot);
    time.at_zero -= less_us;
    if (!kByService) return time;
    const double gpus = view.gpus_at_least_one(slot);
    return {time.at_zero * gpus, time.per_us * gpus};
  }
};

constexpr const char* kSource = "Schrage and Miller 1966; Tiresias, NSDI 2019";
constexpr const char* kFidelity = "exact except for gangs (policies/order.h)";

const AddPolicy<ShortestRemaining<TrueRemainingTime, false>> kSrtf{
    "srtf", "shortest remaining time first by true run time", kSource, kFidelity};
const AddPolicy<ShortestRemaining<RemainingTimeByLimit, false>> kSrtfEstimate{
    "srtf-estimate", "shortest remaining time first by the users' limits",
    "Schrage and Miller 1966", kFidelity};
const AddPolicy<ShortestRemaining<TrueRemainingTime, true>> kSrsf{
    "srsf", "shortest remaining service first by true run time", kSource, kFidelity};
const AddPolicy<ShortestRemaining<RemainingTimeByLimit, true>> kSrsfEstimate{
    "srsf-estimate", "shortest remaining service first by the users' limits", kSource, kFidelity};

}  // namespace
}  // namespace yard
