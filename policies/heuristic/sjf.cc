// Shortest job first by the true run time, without preemption, skipping what does not fit. An
// oracle.

#include "policies/order.h"
#include "policies/policy.h"

namespace yard {
namespace {

struct Config {
  std::string placement = "first-fit";
  void fields(FieldList& f) { f("placement", placement, placement_names(), "where a job goes"); }
};

class Sjf final : public Policy {
 public:
  explicit Sjf(const Settings& settings)
      : placement_(parse_placement(parse<Config>(settings).placement)) {}

  Level level() const override { return Level::kOracle; }

  size_t memory_bytes(const View& view) const override { return Ranked::bytes(view); }

  void decide(const View& view, Memory& memory, Draft& draft) const override {
    Carver carver(memory.data());
    Ranked ranked(view, carver);
    take_in_changed(view, ranked, [&](int32_t slot) { return view.left_us(slot); });
    start_in_order(view, ranked, placement_, draft);
  }

 private:
  Placement placement_;
};

const PolicyRegistry::Add<Sjf> kSjf{"sjf",
                                    {.about = "shortest job first by true run time",
                                     .source = "folklore",
                                     .fidelity = "exact",
                                     .level = Level::kOracle,
                                     .servable = false,
                                     .fields = describe<Config>}};

}  // namespace
}  // namespace yard
