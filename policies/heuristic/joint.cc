// Policies that choose order, GPU type, placement, preemptions and migrations together
// (env/scheduling/joint.h). The index of a source as in index_order.h decides the order.
#include "env/scheduling/joint.h"

#include <optional>

#include "env/predict/rolling_estimate.h"
#include "env/predict/survival_index.h"
#include "policies/index_order.h"

namespace yard {
namespace {

// The memory holds the columns of JointScheduler, then those of the source.
template <class Source>
class JointPolicy final : public ConfiguredPolicy<typename Source::Config, Source::kLevel> {
  using Base = ConfiguredPolicy<typename Source::Config, Source::kLevel>;

 public:
  static bool preempts() { return typename Source::Config().preempt; }

  explicit JointPolicy(const Settings& settings) : Base(settings), source_(this->config_) {}

  size_t memory_bytes(const View& view) const override {
    return JointScheduler::bytes(view) + source_.bytes(view);
  }

  void decide(const View& view, Memory& memory, Draft& draft) const override {
    BumpAllocator bump(memory.data() + JointScheduler::bytes(view));
    typename Source::Evaluator now(source_, view, bump);
    JointScheduler::on_events(view, memory.data());
    if (view.num_waiting() == 0 && view.num_holders() == 0) return;
    JointScheduler joint(this->config_, view, memory.data());
    joint.begin_round([&](int32_t slot) { return now.seconds(slot); });
    while (joint.next() != kNone) joint.apply(joint.expert_action(), draft);
    joint.commit(draft);
  }

 private:
  Source source_;
};

using Observed = SurvivalPriorityIndex<InformationLevel::kHistory, JointConfig, Attained::kWork>;
using AttainedTime = ViewPriorityIndex<JointConfig, InformationLevel::kBlind, &View::attained_us>;
using TrueTimeLeft = ViewPriorityIndex<JointConfig, InformationLevel::kOracle, &View::work_left_us>;

const AddPolicy<JointPolicy<Observed>> kJoint{
    "joint",
    "order, GPU type, placement, preemption and migration together, by run times of similar jobs",
    "our own", "our own"};
const AddPolicy<JointPolicy<AttainedTime>> kJointLas{
    "joint-las", "as joint, by attained service", "our own",
    "our own; least attained service as in Tiresias"};
const AddPolicy<JointPolicy<TrueTimeLeft>> kJointOracle{
    "joint-oracle", "as joint, by true time left: a bound", "our own", "our own"};

// Published orders with our own rules for placement and GPU type. Each rule has constants of its
// own, which a search over all constants has to beat. Jobs that spreading slows down wait for a
// consolidated placement (after Tiresias' skew). Others go where they run fastest (after Gavel,
// without its linear program), or migrate (after Gandiva).
enum class Rule { kFifoSkew, kLasSkew, kShortestRate, kShortestMove };

struct RuleConfig : JointConfig {
  explicit RuleConfig(Rule rule) {
    margin_log2 = 0.5;
    type_price = 0, interference_cost = 0, fragmentation = 0.1, preemption_penalty = 0,
    migration_penalty = 0, spread = 0;
    move = rule == Rule::kShortestMove, preempt = rule != Rule::kFifoSkew;
    if (rule == Rule::kFifoSkew || rule == Rule::kLasSkew) {
      rate_floor = 0.75, patience_s = 3600;  // slow when spread: waits to be consolidated
      gpu_exponent = rule == Rule::kLasSkew ? 1 : 0;
    } else {
      rate_floor = 0.5, patience_s = 7200;
      interference_cost = 1;  // separates jobs that slow each other down
    }
  }
};

template <Rule kRule>
struct ByRule {
  struct Config : RuleConfig {
    Config() : RuleConfig(kRule) {}
  };
  static constexpr bool kByHistory = kRule == Rule::kShortestRate || kRule == Rule::kShortestMove;
  static constexpr InformationLevel kLevel =
      kByHistory ? InformationLevel::kHistory : InformationLevel::kBlind;
  explicit ByRule(const Config&) {}
  static size_t bytes(const View& view) { return kByHistory ? RollingEstimate::bytes(view) : 0; }

  struct Evaluator {
    Evaluator(const ByRule&, const View& view, BumpAllocator& bump) : view(view) {
      if (!kByHistory) return;
      estimate.emplace(view, bump, Attained::kWork);
      estimate->on_events(view);
    }
    double seconds(int32_t slot) const {
      const double attained_s = static_cast<double>(view.work_done_in_whole_us(slot)) * 1e-6;
      if (kByHistory) return estimate->predicted_total_s(view, slot) - attained_s;
      if (kRule == Rule::kLasSkew) return attained_s;
      return 1 + view.serial(slot);  // in the order of submission
    }
    const View& view;
    std::optional<RollingEstimate> estimate;
  };
};

template <Rule kRule>
using AddRule = AddPolicy<JointPolicy<ByRule<kRule>>>;
constexpr const char* kFidelity =
    "the order is published; placement rule, margin and timer are ours";

const AddRule<Rule::kFifoSkew> kFifoSkew{
    "fifo-skew",
    "first come, first served; jobs slowed by spreading wait for a consolidated placement",
    "our own, after Tiresias, NSDI 2019", kFidelity};
const AddRule<Rule::kLasSkew> kLasSkew{
    "las-skew",
    "least attained service; jobs slowed by spreading wait for a consolidated placement",
    "our own, after Tiresias, NSDI 2019", kFidelity};
const AddRule<Rule::kShortestRate> kShortestRate{
    "srsf-rate",
    "shortest remaining service first by the rolling estimate, placed where it runs fastest",
    "our own, after Helios QSSF, SC 2021, and Gavel, OSDI 2020", kFidelity};
const AddRule<Rule::kShortestMove> kShortestMove{
    "srsf-move", "as srsf-rate; jobs move to where they run faster, small ones make room",
    "our own, after Helios QSSF, SC 2021, and Gandiva, OSDI 2018", kFidelity};

}  // namespace
}  // namespace yard
