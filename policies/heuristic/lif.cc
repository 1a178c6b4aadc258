// Least interference first: jobs start in order of arrival, each task on the node with the least
// co-location slowdown by a model fitted to running jobs. The model uses how much of a node others
// use, not what they run (node_load.h). It is linear or quadratic, and fitted by recursive least
// squares from a prior slowdown of 2 on a full node. Harmony (INFOCOM 2019) was compared with both.
#include "env/scheduling/node_load.h"
#include "policies/first_come.h"

namespace yard {
namespace {

template <bool kQuadratic>
class Lif final : public Policy {
 public:
  using Model = NodeLoadTerms<kQuadratic>;
  using Learned = InterferenceModel<typename Model::Fit>;

  size_t memory_bytes(const View& view) const override { return Learned::bytes(view); }

  void decide(const View& view, Memory& memory, Draft& draft) const override {
    BumpAllocator bump(memory.data());
    const Learned learned(view, bump);
    learned.begin(Model::kStart);
    learned.on_events(view);
    const auto least_slowed = [&](const TaskPlacer::CandidateNode& at) {
      return -learned.predicted_time_per_work(
          Model::terms(1 - at.room.gpus, 1 - at.room.cpus, at.others));
    };
    start_fitting_in_arrival_order(view, least_slowed, draft);
    const TaskPlacer placer(view);
    learned.scan(view, [&](int32_t slot) { return Model::of(view, placer, slot); });
  }
};

Policy::Info info(const char* about) {
  return {.about = about,
          .source = "rivals of Harmony, INFOCOM 2019; models as in TRACON, SC 2011",
          .fidelity = "our reading: the papers' own models are not public in full",
          .servable = false};
}

const PolicyRegistry::Add<Lif<false>> kLinear{
    "lif-linear",
    info("first come, first served; placed where a linear model predicts least interference")};
const PolicyRegistry::Add<Lif<true>> kQuadratic{
    "lif-quadratic",
    info("first come, first served; placed where a quadratic model predicts least interference")};

}  // namespace
}  // namespace yard
