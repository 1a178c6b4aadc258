// Shortest remaining time first, preemptive: by the true run time, an oracle, or by the user's
// limit.

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
class Srtf : public Policy {
 public:
  explicit Srtf(const Settings& settings) {
    const auto config = parse<Config>(settings);
    rule_ = {parse_placement(config.placement), config.margin};
  }

  Level level() const override { return Left::kLevel; }

  size_t memory_bytes(const View& view) const override { return ordered_bytes(view, rule_); }

  void decide(const View& view, Memory& memory, Draft& draft) const override {
    decide_in_order(
        view, memory.data(), rule_,
        [&](int32_t slot) { return Left::line(view, slot).at(view.now_us()); },
        [&](int32_t slot) { return Left::line(view, slot); }, draft);
  }

 private:
  PreemptionRule rule_;
};

const PolicyRegistry::Add<Srtf<TrueLeft>> kSrtf{
    "srtf",
    {.about = "shortest remaining time first by true run time",
     .source = "Schrage and Miller 1966; Tiresias, NSDI 2019",
     .fidelity = "exact but for gangs, see policies/order.h",
     .level = Level::kOracle,
     .servable = false,
     .preemptive = true,
     .fields = describe<Config>}};

const PolicyRegistry::Add<Srtf<LimitLeft>> kSrtfEstimate{
    "srtf-estimate",
    {.about = "shortest remaining time first by the users' limits",
     .source = "Schrage and Miller 1966",
     .fidelity = "exact but for gangs, see policies/order.h",
     .level = Level::kEstimate,
     .preemptive = true,
     .fields = describe<Config>}};

}  // namespace
}  // namespace yard
