// Waiting jobs in an order drawn at their arrival, skipping jobs that do not fit. Any policy with
// some information should beat this floor.

#include "env/base/core/rng.h"
#include "policies/order.h"
#include "policies/policy.h"

namespace yard {
namespace {

struct Config {
  std::string placement = "first-fit";
  int64_t draw = 1;
  void fields(FieldList& f) {
    f("placement", placement, placement_names(), "placement rule");
    f("draw", draw, 0, INT64_MAX, "seed of the order");
  }
};

class Random final : public Policy {
 public:
  explicit Random(const Settings& settings) {
    const auto config = parse<Config>(settings);
    placement_ = parse_placement(config.placement);
    draw_ = static_cast<uint64_t>(config.draw);
  }

  Level level() const override { return Level::kBlind; }

  size_t memory_bytes(const View& view) const override { return RankedQueue::bytes(view); }

  void decide(const View& view, Memory& memory, Draft& draft) const override {
    BumpAllocator bump(memory.data());
    RankedQueue ranked(view, bump);
    push_waiting(view, ranked, [&](int32_t slot) {
      return Rng(draw_).split(static_cast<uint64_t>(view.serial(slot))).uniform();
    });
    start_in_order(view, ranked, placement_, draft);
  }

 private:
  PlacementRule placement_ = PlacementRule::kFirstFit;
  uint64_t draw_ = 1;
};

const PolicyRegistry::Add<Random> kRandom{
    "random",
    {.about = "waiting jobs in a random order, skipping jobs that do not fit",
     .source = "folklore",
     .fidelity = "exact",
     .level = Level::kBlind,
     .servable = false,
     .fields = describe<Config>}};

}  // namespace
}  // namespace yard
