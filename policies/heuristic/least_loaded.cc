// Load balancing: every task goes to the node that is used least, first come first served. It keeps
// jobs out of each other's way and tears them apart.
#include "policies/first_come.h"
#include "policies/policy.h"

namespace yard {
namespace {

// A node is used as much as the scarcest of what it has.
double least_used(const TaskPlacer::Seat& at) { return at.room.least(); }

class LeastLoaded final : public Policy {
 public:
  explicit LeastLoaded(const Settings& settings) { parse<NoConfig>(settings); }

  Level level() const override { return Level::kBlind; }

  void decide(const View& view, Memory&, Draft& draft) const override {
    start_first_come(view, least_used, draft);
  }
};

const PolicyRegistry::Add<LeastLoaded> kLeastLoaded{
    "least-loaded",
    {.about = "first come first served; every task on the node that is used least",
     .source = "folklore; Kubernetes' LeastAllocated",
     .fidelity = "a plain job, whose tasks nobody names, stays together where a node has room",
     .level = Level::kBlind}};

}  // namespace
}  // namespace yard
