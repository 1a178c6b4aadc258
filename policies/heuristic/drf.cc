// Dominant resource fairness between jobs (Ghodsi et al., NSDI 2011): the next task goes to the job
// whose dominant share is least, to the role group of it that is furthest behind what was asked
// for. Elastic jobs grow by it, as DL2's rival did; others get what they ask for, in the order in
// which they came.
#include "env/sim/sizes.h"
#include "policies/policy.h"

namespace yard {
namespace {

struct Config {
  double timer_s = 1200;
  void fields(FieldList& f) {
    f("timer_s", timer_s, 10.0, 1e6, "a slot: how often jobs that run may get another size");
  }
};

class Drf final : public Policy {
 public:
  explicit Drf(const Settings& settings)
      : slot_us_(static_cast<int64_t>(parse<Config>(settings).timer_s * 1e6)) {}

  Level level() const override { return Level::kBlind; }

  void decide(const View& view, Memory&, Draft& draft) const override {
    const ClusterShares shares(view);
    Sizes(view, slot_us_).hand_out(least_share(view, shares), draft);
  }

 private:
  int64_t slot_us_;
};

const PolicyRegistry::Add<Drf> kDrf{
    "drf",
    {.about = "dominant resource fairness: elastic jobs grow, the least share first",
     .source = "DRF, NSDI 2011; as a rival, DL2, TPDS 2021",
     .fidelity = "between jobs, by slots of time; jobs that are not elastic are never stopped",
     .level = Level::kBlind,
     .preemptive = true,
     .by_sizes = true,
     .fields = describe<Config>}};

}  // namespace
}  // namespace yard
