// First come, first served, but skips jobs that do not fit. No reservation protects skipped jobs.

#include "policies/order.h"
#include "policies/policy.h"
#include "policies/queue_order.h"

namespace yard {
namespace {

struct Config {
  std::string placement = "first-fit";
  std::string order = "arrival";
  void fields(FieldList& f) {
    f("placement", placement, placement_names(), "placement rule");
    f("order", order, queue_order_names(), "queue order; ties by arrival");
  }
};

class Greedy final : public Policy {
 public:
  explicit Greedy(const Settings& settings) {
    const auto config = parse<Config>(settings);
    placement_ = parse_placement(config.placement);
    order_ = parse_queue_order(config.order);
  }

  Level level() const override { return Level::kBlind; }

  void decide(const View& view, Memory&, Draft& draft) const override {
    Blocked blocked;
    if (order_ != QueueOrder::kArrival) {
      for (const int32_t slot : waiting_in_order(view, order_)) {
        if (!blocked.has(view.size_class(slot))) start(view, slot, blocked, draft);
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
      blocked.add(view.size_class(slot));
    }
  }

  PlacementRule placement_ = PlacementRule::kFirstFit;
  QueueOrder order_ = QueueOrder::kArrival;
};

const PolicyRegistry::Add<Greedy> kGreedy{
    "greedy",
    {.about = "first come, first served; skips jobs that do not fit, reserves nothing",
     .source = "folklore; named fjf in Tiresias' simulator",
     .fidelity =
         "exact; no equivalent in Slurm, whose sched/backfill makes reservations for skipped jobs",
     .level = Level::kBlind,
     .fields = describe<Config>}};

}  // namespace
}  // namespace yard
