// First come, first served, but skips jobs that do not fit. No reservation protects skipped jobs.
#include "policies/queue_order.h"

namespace yard {
namespace {

class Greedy final : public ConfiguredOrderPolicy<InformationLevel::kBlind> {
 public:
  using ConfiguredOrderPolicy::ConfiguredOrderPolicy;

  void decide(const View& view, Memory&, Draft& draft) const override {
    Blocked blocked;
    if (order_ != QueueOrder::kArrival) {
      for (const int32_t slot : waiting_in_order(view, order_)) {
        if (!blocked.has(view.request_class(slot))) start(view, slot, blocked, draft);
      }
      return;
    }
    // The state keeps the queue by size class: the next job that fits is the earliest head.
    const Placer placer(view);
    while (view.num_waiting() > 0) {
      const int32_t first = placer.first_waiting([&](int32_t k) { return blocked.has(k); });
      if (first == kNone) return;
      start(view, first, blocked, draft);
    }
  }

 private:
  // Size classes without a placement.
  class Blocked {
   public:
    bool has(int32_t k) const {
      return static_cast<size_t>(k) < classes_.size() && classes_[static_cast<size_t>(k)] != 0;
    }
    void add(int32_t k) {
      if (static_cast<size_t>(k) >= classes_.size()) classes_.resize(static_cast<size_t>(k) + 1);
      classes_[static_cast<size_t>(k)] = 1;
    }

   private:
    std::vector<char> classes_;
  };

  void start(const View& view, int32_t slot, Blocked& blocked, Draft& draft) const {
    Piece* pieces = draft.scratch();
    const int32_t n = place(view, placement_, slot, pieces);
    if (n > 0) {
      draft.start(slot, pieces, n);
    } else {
      blocked.add(view.request_class(slot));
    }
  }
};

const AddPolicy<Greedy> kGreedy{
    "greedy", "first come, first served; skips jobs that do not fit, reserves nothing",
    "folklore; named fjf in Tiresias' simulator",
    "exact; no equivalent in Slurm, whose sched/backfill makes reservations for skipped jobs"};

}  // namespace
}  // namespace yard
