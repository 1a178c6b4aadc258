// Shortest remaining service first: time left times GPUs, preemptive, by the true run time, an
// oracle, or by the user's limit.

#include "policies/order.h"
#include "policies/policy.h"
#include "policies/time_left.h"

namespace yard {
namespace {

struct Config {
  std::string placement = "first-fit";
  double margin = 0;
  void fields(FieldList& f) {
    f("placement", placement, placement_names(), "where a job goes");
    f("margin", margin, 0.0, 100.0, "by how much better a job must be to preempt, relative");
  }
};

template <class Left>
class Srsf : public Policy {
 public:
  explicit Srsf(const Settings& settings) {
    const auto config = parse<Config>(settings);
    rule_ = {parse_placement(config.placement), config.margin};
  }

  Level level() const override { return Left::kLevel; }

  size_t memory_bytes(const View& view) const override { return ordered_bytes(view, rule_); }

  void decide(const View& view, Memory& memory, Draft& draft) const override {
    const auto service_left = [&](int32_t slot) {
      const FallingLine left = Left::line(view, slot);
      const double gpus = view.weight_gpus(slot);
      return FallingLine{left.at_zero * gpus, left.per_us * gpus};
    };
    decide_in_order(
        view, memory.data(), rule_,
        [&](int32_t slot) { return service_left(slot).at(view.now_us()); }, service_left, draft);
  }

 private:
  PreemptionRule rule_;
};

const PolicyRegistry::Add<Srsf<TrueLeft>> kSrsf{
    "srsf",
    {.about = "shortest remaining service first by true run time",
     .source = "Schrage and Miller 1966; Tiresias, NSDI 2019",
     .fidelity = "exact but for gangs, see policies/order.h",
     .level = Level::kOracle,
     .servable = false,
     .preemptive = true,
     .fields = describe<Config>}};

const PolicyRegistry::Add<Srsf<LimitLeft>> kSrsfEstimate{
    "srsf-estimate",
    {.about = "shortest remaining service first by the users' limits",
     .source = "Schrage and Miller 1966; Tiresias, NSDI 2019",
     .fidelity = "exact but for gangs, see policies/order.h",
     .level = Level::kEstimate,
     .preemptive = true,
     .fields = describe<Config>}};

}  // namespace
}  // namespace yard
