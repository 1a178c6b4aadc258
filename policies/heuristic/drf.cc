// Dominant resource fairness between jobs (Ghodsi et al., NSDI 2011): the next task goes to the job
// whose dominant share is least, to the role group of it that is furthest behind what was asked
// for. Elastic jobs grow by it, as DL2's rival did; others get what they ask for, in the order in
// which they came.
#include "policies/policy.h"
#include "policies/sizes.h"

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
    const auto behind = [&](const JobSize& size, int32_t group) {
      return static_cast<double>(size.tasks[static_cast<size_t>(group)]) /
             view.asked_tasks(size.slot, group);
    };
    const auto least_share = [&](const JobSize& size, int32_t group) {
      for (int32_t g = 0; g < view.num_groups(size.slot); ++g) {
        const bool grows = size.tasks[static_cast<size_t>(g)] < view.max_tasks(size.slot, g);
        if (grows && behind(size, g) < behind(size, group)) return 0.0;
      }
      return 2 - ClusterShares::dominant(shares.of(size));
    };
    Sizes(view, slot_us_).hand_out(least_share, draft);
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
     .fields = describe<Config>}};

}  // namespace
}  // namespace yard
