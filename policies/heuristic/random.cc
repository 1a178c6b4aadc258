// Waiting jobs in an order drawn at their arrival, skipping jobs that do not fit. Any policy with
// some information should beat this floor.
#include "env/base/core/rng.h"
#include "policies/order.h"

namespace yard {
namespace {

struct Config : PlacementConfig {
  int64_t draw = 1;
  void fields(FieldList& f) {
    PlacementConfig::fields(f);
    f("draw", draw, 0, INT64_MAX, "seed of the order");
  }
};

class Random final : public PlacementRulePolicy<Config> {
 public:
  using PlacementRulePolicy::PlacementRulePolicy;

  size_t memory_bytes(const View& view) const override { return RankedQueue::bytes(view); }
  size_t kept_memory_bytes(const View&) const override { return 0; }

  void decide(const View& view, Memory& memory, Draft& draft) const override {
    BumpAllocator bump(memory.data());
    RankedQueue ranked(view, bump);
    const Rng rng(static_cast<uint64_t>(config_.draw));
    push_newly_waiting(view, ranked, [&](int32_t slot) {
      return rng.split(static_cast<uint64_t>(view.serial(slot))).uniform();
    });
    start_in_order(view, ranked, placement_, draft);
  }
};

const AddPolicy<Random> kRandom{"random",
                                "waiting jobs in a random order, skipping jobs that do not fit",
                                "folklore", "exact", false};

}  // namespace
}  // namespace yard
