// Optimus (Peng et al., EuroSys 2018, section 4): every job gets the least with which it runs, then
// the next task goes where it saves most time per dominant share that it takes,
//   gain = (Q / f(p, w) - Q / f(p', w')) / dominant share of the task,
// Q being the work left and f the speed with so many parameter servers and workers. Jobs lie on as
// few nodes as hold them.
#include <algorithm>

#include "env/sim/foretell.h"
#include "env/sim/sizes.h"
#include "policies/policy.h"

namespace yard {
namespace {

struct Config {
  double timer_s = 600;
  void fields(FieldList& f) {
    f("timer_s", timer_s, 10.0, 1e6, "a slot: how often jobs that run may get another size");
  }
};

class Optimus final : public Policy {
 public:
  explicit Optimus(const Settings& settings)
      : slot_us_(static_cast<int64_t>(parse<Config>(settings).timer_s * 1e6)) {}

  Level level() const override { return Level::kEstimate; }

  void decide(const View& view, Memory&, Draft& draft) const override {
    const Foretell foretell(view);
    const ClusterShares shares(view);
    const auto seconds = [&](const JobSize& size) {
      double best = 0;
      for (int32_t t = 0; t < foretell.num_types(); ++t) {
        best = std::max(best, foretell.sized(size.slot, t, size.tasks));
      }
      return work_left_us(view, size.slot) * 1e-6 / std::max(best, kCrawl);
    };
    const auto gain = [&](const JobSize& size, int32_t group) {
      JobSize more = size;
      ++more.tasks[static_cast<size_t>(group)];
      const double share = ClusterShares::dominant(shares.of_task(size.slot, group));
      return (seconds(size) - seconds(more)) / std::max(share, 1e-9);
    };
    Sizes(view, slot_us_).hand_out(gain, draft);
  }

 private:
  // What the user said less what is done. Who says nothing, or too little, is taken to have as much
  // left as it has done.
  static double work_left_us(const View& view, int32_t slot) {
    const auto done = static_cast<double>(view.worked_us(slot));
    const int64_t limit = view.limit_us(slot);
    const double left = limit == kNone ? 0 : static_cast<double>(limit) - done;
    return left > 0 ? left : std::max(done, 1.0);
  }

  int64_t slot_us_;
};

const PolicyRegistry::Add<Optimus> kOptimus{
    "optimus",
    {.about = "elastic jobs grow where a task saves most time for what it takes",
     .source = "Optimus, EuroSys 2018",
     .fidelity = "its marginal gain; speeds from the tables that are fitted by its form, the work "
                 "left from the user's limit, not from a fitted loss curve",
     .level = Level::kEstimate,
     .preemptive = true,
     .by_limits = true,
     .by_sizes = true,
     .fields = describe<Config>}};

}  // namespace
}  // namespace yard
