// EASY backfilling (Lifka, "The ANL/IBM SP Scheduling System", JSSPP 1995), as in batch systems.
// Jobs start in order of arrival. If the head of the queue does not fit, it gets a reservation for
// when enough GPUs are free if all jobs run to their users' limits. Later jobs start only if they
// do not delay it. A job without a limit may run forever.
#include <algorithm>
#include <utility>

#include "policies/queue_order.h"

namespace yard {
namespace {

class Easy final : public ConfiguredOrderPolicy<InformationLevel::kEstimate> {
 public:
  using ConfiguredOrderPolicy::ConfiguredOrderPolicy;

  InformationLevel min_information_level() const override { return InformationLevel::kBlind; }

  void decide(const View& view, Memory&, Draft& draft) const override {
    Piece* pieces = draft.scratch();
    const std::vector<int32_t> queue = waiting_in_order(view, order_);
    size_t i = 0;
    for (; i < queue.size(); ++i) {
      const int32_t n = place(view, placement_, queue[i], pieces);
      if (n == 0) break;
      draft.start(queue[i], pieces, n);
    }
    if (i == queue.size()) return;
    Reservation held = reserve(view, queue[i]);
    for (++i; i < queue.size(); ++i) {
      const int32_t slot = queue[i];
      const int64_t ends_us = ends_by_us(view, slot);
      const bool over_in_time = ends_us != kNever && ends_us <= held.at_us;
      if (over_in_time || view.gpus(slot) <= held.spare) {
        const int32_t n = place(view, placement_, slot, pieces);
        if (n > 0 && draft.start(slot, pieces, n) && !over_in_time) held.spare -= view.gpus(slot);
      }
    }
  }

 private:
  struct Reservation {
    int64_t at_us;  // latest start of the head
    int32_t spare;  // GPUs that the head leaves free then
  };

  // Returns when a job that runs from this moment reaches its limit; kNever without a limit.
  static int64_t ends_by_us(const View& view, int32_t slot) {
    if (view.level() < InformationLevel::kEstimate) return kNever;
    const int64_t limit_us = view.limit_us(slot);
    if (limit_us == kNone) return kNever;
    const bool starts = view.phase(slot) == Phase::kStarting;
    const int64_t from_us = starts ? view.transition_end_us(slot) : view.now_us();
    return from_us + std::max<int64_t>(limit_us - view.attained_us(slot), 0);
  }

  static Reservation reserve(const View& view, int32_t head) {
    std::vector<std::pair<int64_t, int32_t>> ends;  // time, GPUs
    for (const int32_t slot : view.holder_slots()) {
      ends.emplace_back(ends_by_us(view, slot), view.gpus(slot));
    }
    std::sort(ends.begin(), ends.end());
    int32_t free = view.free_gpus();
    for (const auto& [at_us, gpus] : ends) {
      if (at_us == kNever) break;
      free += gpus;
      if (free >= view.gpus(head)) return {at_us, free - view.gpus(head)};
    }
    // Jobs without limits, fragmentation or GPUs that are down: the start is unknown, and so is
    // which of the free GPUs the head will not need.
    return {kNever, 0};
  }
};

const PolicyRegistry::Add<Easy> kEasy{
    "easy",
    {.about = "first come, first served; backfills where the head of the queue is not delayed, by "
              "users' limits",
     .source = "Lifka, JSSPP 1995",
     .fidelity = "exact; the reservation counts GPUs, not nodes; Slurm: nearest is sched/backfill "
                 "with SchedulerParameters=bf_job_part_count_reserve=1",
     .level = InformationLevel::kEstimate,
     .uses_limits = true,
     .fields = describe<QueueOrderConfig>}};

}  // namespace
}  // namespace yard
