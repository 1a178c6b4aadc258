// Order, GPU type, placement, preemptions and migrations together (joint.h), by several indices:
// the true time left (an oracle), the run times of earlier jobs, or attained service.

#include "policies/joint.h"

#include "env/predict/survival_index.h"

namespace yard {
namespace {

struct TrueTimeLeft {
  using Config = JointConfig;
  static constexpr Level kLevel = Level::kOracle;
  explicit TrueTimeLeft(const Config&) {}
  static size_t bytes(const View&) { return 0; }
  struct Evaluator {
    Evaluator(const TrueTimeLeft&, const View& view, BumpAllocator&) : view(view) {}
    double seconds(int32_t slot) const { return view.left_us(slot) * 1e-6; }
    const View& view;
  };
};

struct AttainedTime {
  using Config = JointConfig;
  static constexpr Level kLevel = Level::kBlind;
  explicit AttainedTime(const Config&) {}
  static size_t bytes(const View&) { return 0; }
  struct Evaluator {
    Evaluator(const AttainedTime&, const View& view, BumpAllocator&) : view(view) {}
    double seconds(int32_t slot) const {
      return static_cast<double>(view.attained_us(slot)) * 1e-6;
    }
    const View& view;
  };
};

using Observed = SurvivalIndex<Level::kHistory, JointConfig, WorkView>;

const PolicyRegistry::Add<JointPolicy<Observed>> kJoint{
    "joint",
    {.about = "order, GPU type, placement, preemption and migration together, by run times of "
              "similar jobs",
     .source = "our own",
     .fidelity = "our own",
     .level = Level::kHistory,
     .preemptive = true,
     .fields = describe<Observed::Config>}};

const PolicyRegistry::Add<JointPolicy<AttainedTime>> kJointLas{
    "joint-las",
    {.about = "as joint, by attained service",
     .source = "our own",
     .fidelity = "our own; least attained service as in Tiresias",
     .level = Level::kBlind,
     .preemptive = true,
     .fields = describe<JointConfig>}};

const PolicyRegistry::Add<JointPolicy<TrueTimeLeft>> kJointOracle{
    "joint-oracle",
    {.about = "as joint, by true time left: a bound",
     .source = "our own",
     .fidelity = "our own",
     .level = Level::kOracle,
     .servable = false,
     .preemptive = true,
     .fields = describe<JointConfig>}};

}  // namespace
}  // namespace yard
