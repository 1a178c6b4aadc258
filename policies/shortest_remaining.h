// Preemptive orders by the rest of a job: its time left, or its service left (time x GPUs). Each is
// registered in its own file, by true run time or by the user's limit (remaining_time.h).
#pragma once

#include "policies/order.h"
#include "policies/policy.h"
#include "policies/preemption_cost.h"
#include "policies/remaining_time.h"

namespace yard {

struct ShortestRemainingConfig {
  std::string placement = "first-fit";
  double margin = 0;
  double cost_weight = 0;
  void fields(FieldList& f) {
    f("placement", placement, placement_names(), "placement rule");
    f("margin", margin, 0.0, 100.0,
      "relative margin by which a waiting job must have less left to preempt");
    f("cost_weight", cost_weight, 0.0, 100.0,
      "multiple of its preemption cost subtracted from a running job's time left");
  }
};

template <class RemainingTime, bool kByService>
class ShortestRemaining : public Policy {
 public:
  explicit ShortestRemaining(const Settings& settings) {
    const auto config = parse<ShortestRemainingConfig>(settings);
    rule_ = {parse_placement(config.placement), config.margin};
    cost_weight_ = config.cost_weight;
  }

  Level level() const override { return RemainingTime::kLevel; }

  size_t memory_bytes(const View& view) const override { return ordered_bytes(view, rule_); }

  void decide(const View& view, Memory& memory, Draft& draft) const override {
    const auto remaining_less = [&](int32_t slot, double less_us) {
      LinearDecrease time = RemainingTime::line(view, slot);
      time.at_zero -= less_us;
      if (!kByService) return time;
      const double gpus = view.weight_gpus(slot);
      return LinearDecrease{time.at_zero * gpus, time.per_us * gpus};
    };
    decide_in_order(
        view, memory.data(), rule_,
        [&](int32_t slot) { return remaining_less(slot, 0).at(view.now_us()); },
        [&](int32_t slot) {
          const auto cost_us = static_cast<double>(preemption_cost_us(view, slot));
          return remaining_less(slot, cost_weight_ * cost_us);
        },
        draft);
  }

 private:
  PreemptionRule rule_;
  double cost_weight_;
};

}  // namespace yard
