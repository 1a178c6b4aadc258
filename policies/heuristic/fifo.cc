// First come, first served, strictly: the head of the queue waits for its GPUs, and all other jobs
// wait behind it.

#include "policies/order.h"
#include "policies/policy.h"

namespace yard {
namespace {

struct Config {
  std::string placement = "first-fit";
  void fields(FieldList& f) { f("placement", placement, placement_names(), "placement rule"); }
};

class Fifo final : public Policy {
 public:
  explicit Fifo(const Settings& settings)
      : placement_(parse_placement(parse<Config>(settings).placement)) {}

  Level level() const override { return Level::kBlind; }

  void decide(const View& view, Memory&, Draft& draft) const override {
    Piece* pieces = draft.scratch();
    for (int32_t slot = view.queue_head(); slot != kNone; slot = view.queue_head()) {
      const int32_t n = place(view, placement_, slot, pieces);
      if (n == 0) return;
      draft.start(slot, pieces, n);
    }
  }

 private:
  PlacementRule placement_;
};

const PolicyRegistry::Add<Fifo> kFifo{
    "fifo",
    {.about = "first come, first served; a job that does not fit blocks all later jobs",
     .source = "folklore",
     .fidelity = "exact; Slurm: SchedulerType=sched/builtin with "
                 "PriorityType=priority/basic and one partition",
     .level = Level::kBlind,
     .fields = describe<Config>}};

}  // namespace
}  // namespace yard
