// Shortest job first without preemption, skipping jobs that do not fit: by the true run time (an
// oracle) or by the user's limit.

#include "policies/order.h"
#include "policies/policy.h"
#include "policies/remaining_time.h"

namespace yard {
namespace {

struct Config {
  std::string placement = "first-fit";
  void fields(FieldList& f) { f("placement", placement, placement_names(), "placement rule"); }
};

template <class RemainingTime>
class Sjf : public Policy {
 public:
  explicit Sjf(const Settings& settings)
      : placement_(parse_placement(parse<Config>(settings).placement)) {}

  Level level() const override { return RemainingTime::kLevel; }

  size_t memory_bytes(const View& view) const override { return RankedQueue::bytes(view); }

  void decide(const View& view, Memory& memory, Draft& draft) const override {
    BumpAllocator bump(memory.data());
    RankedQueue ranked(view, bump);
    push_waiting(view, ranked,
                 [&](int32_t slot) { return RemainingTime::line(view, slot).at(view.now_us()); });
    start_in_order(view, ranked, placement_, draft);
  }

 private:
  PlacementRule placement_;
};

const PolicyRegistry::Add<Sjf<TrueRemaining>> kSjf{"sjf",
                                                   {.about = "shortest job first by true run time",
                                                    .source = "folklore",
                                                    .fidelity = "exact",
                                                    .level = Level::kOracle,
                                                    .servable = false,
                                                    .fields = describe<Config>}};

const PolicyRegistry::Add<Sjf<LimitRemaining>> kSjfEstimate{
    "sjf-estimate",
    {.about = "shortest job first by the users' limits",
     .source = "folklore",
     .fidelity = "exact",
     .level = Level::kEstimate,
     .fields = describe<Config>}};

}  // namespace
}  // namespace yard
