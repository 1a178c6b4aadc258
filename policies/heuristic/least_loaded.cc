// Load balancing: each task goes to the least used node, first come, first served. This avoids
// co-location, but spreads jobs over nodes. With own_node=true a task goes to the least used node
// that already holds tasks of its job, if one has room. Jobs then stay together and start where
// little runs.
#include "policies/first_come.h"

namespace yard {
namespace {

struct Config {
  bool own_node = false;
  void fields(FieldList& f) {
    f("own_node", own_node, "prefer nodes that already hold tasks of the same job");
  }
};

// A node is used as much as its scarcest resource.
double least_used(const TaskPlacer::CandidateNode& at) { return at.room.min_share(); }

// The free share is at most 1, so the job's own nodes come first.
double own_node_first(const TaskPlacer::CandidateNode& at) {
  return (at.others ? 0 : 2) + least_used(at);
}

class LeastLoaded final : public ConfiguredPolicy<Config> {
 public:
  using ConfiguredPolicy::ConfiguredPolicy;

  void decide(const View& view, Memory&, Draft& draft) const override {
    start_fitting_in_arrival_order(view, config_.own_node ? own_node_first : least_used, draft);
  }
};

const PolicyRegistry::Add<LeastLoaded> kLeastLoaded{
    "least-loaded",
    {.about = "first come, first served; each task on the least used node",
     .source = "folklore; Kubernetes' LeastAllocated",
     .fidelity = "a job without listed tasks stays together where a node has room; own_node is our "
                 "own, after Kubernetes' pod affinity",
     .fields = describe<Config>}};

}  // namespace
}  // namespace yard
