// Shortest job first without preemption, skipping jobs that do not fit: by the true run time (an
// oracle) or by the user's limit.
#include "policies/order.h"
#include "policies/remaining_time.h"

namespace yard {
namespace {

template <class RemainingTime>
class Sjf : public PlacementRulePolicy<PlacementConfig, RemainingTime::kLevel> {
  using Base = PlacementRulePolicy<PlacementConfig, RemainingTime::kLevel>;

 public:
  using Base::Base;

  size_t memory_bytes(const View& view) const override { return RankedQueue::bytes(view); }
  size_t kept_memory_bytes(const View&) const override { return 0; }

  void decide(const View& view, Memory& memory, Draft& draft) const override {
    BumpAllocator bump(memory.data());
    RankedQueue ranked(view, bump);
    push_newly_waiting(view, ranked, [&](int32_t slot) {
      return RemainingTime::line(view, slot).at(view.now_us());
    });
    start_in_order(view, ranked, Base::placement_, draft);
  }
};

const AddPolicy<Sjf<TrueRemainingTime>> kSjf{"sjf", "shortest job first by true run time",
                                             "folklore", "exact"};
const AddPolicy<Sjf<RemainingTimeByLimit>> kSjfEstimate{
    "sjf-estimate", "shortest job first by the users' limits", "folklore", "exact"};

}  // namespace
}  // namespace yard
