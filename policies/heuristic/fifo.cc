// First come, first served, strictly: the head of the queue waits for its GPUs, and all other jobs
// wait behind it.
#include "policies/order.h"

namespace yard {
namespace {

class Fifo final : public PlacementRulePolicy<PlacementConfig> {
 public:
  using PlacementRulePolicy::PlacementRulePolicy;

  void decide(const View& view, Memory&, Draft& draft) const override {
    Piece* pieces = draft.scratch();
    for (int32_t slot = view.queue_head(); slot != kNone; slot = view.queue_head()) {
      const int32_t n = place(view, placement_, slot, pieces);
      if (n == 0) return;
      draft.start(slot, pieces, n);
    }
  }
};

const AddPolicy<Fifo> kFifo{
    "fifo", "first come, first served; a job that does not fit blocks all later jobs", "folklore",
    "exact; Slurm: SchedulerType=sched/builtin with "
    "PriorityType=priority/basic and one partition"};

}  // namespace
}  // namespace yard
