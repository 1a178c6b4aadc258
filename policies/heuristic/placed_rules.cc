// Published orders with our own rules for placement and GPU type (joint.h). Jobs that spreading
// slows down wait for a consolidated placement (after Tiresias' skew). Others go where they run
// fastest (after Gavel, without its linear program), or migrate (after Gandiva).

#include <optional>

#include "env/predict/rolling_estimate.h"
#include "policies/joint.h"

namespace yard {
namespace {

// Rules for placement and type, each with an order and its own constants: what a search over all
// constants has to beat.
enum class Rule { kFifoSkew, kLasSkew, kShortestRate, kShortestMove };

struct RuleConfig : JointConfig {
  explicit RuleConfig(Rule rule) {
    margin_log2 = 0.5;
    type_price = 0, interference_cost = 0, fragmentation = 0.1, preemption_penalty = 0,
    migration_penalty = 0, spread = 0;
    move = false, preempt = rule != Rule::kFifoSkew;
    if (rule == Rule::kFifoSkew || rule == Rule::kLasSkew) {
      rate_floor = 0.75, patience_s = 3600;  // slow when spread: waits to be consolidated
      gpu_exponent = rule == Rule::kLasSkew ? 1 : 0;
    } else {
      rate_floor = 0.5, patience_s = 7200;
      interference_cost = 1;  // separates jobs that slow each other down
    }
    if (rule == Rule::kShortestMove) move = true;
  }
};

template <Rule kRule>
struct ByRule {
  struct Config : RuleConfig {
    Config() : RuleConfig(kRule) {}
  };
  static constexpr bool kByHistory = kRule == Rule::kShortestRate || kRule == Rule::kShortestMove;
  static constexpr Level kLevel = kByHistory ? Level::kHistory : Level::kBlind;
  explicit ByRule(const Config&) {}
  static size_t bytes(const View& view) { return kByHistory ? RollingEstimate::bytes(view) : 0; }

  struct Evaluator {
    Evaluator(const ByRule&, const View& view, BumpAllocator& bump) : view(view) {
      if (!kByHistory) return;
      estimate.emplace(this->view, bump);
      estimate->on_events(this->view);
    }
    double seconds(int32_t slot) const {
      const double attained_s = static_cast<double>(view.attained_us(slot)) * 1e-6;
      if (kByHistory) return estimate->total_s(view, slot) - attained_s;
      if (kRule == Rule::kLasSkew) return attained_s;
      return 1 + view.serial(slot);  // in the order of submission
    }
    WorkView view;
    std::optional<RollingEstimate> estimate;
  };
};

template <Rule kRule>
struct AddRule {
  AddRule(const char* name, const char* about, const char* source)
      : add{name,
            {.about = about,
             .source = source,
             .fidelity = "the order is published; placement rule, margin and timer are ours",
             .level = ByRule<kRule>::kLevel,
             .preemptive = kRule != Rule::kFifoSkew,
             .fields = describe<typename ByRule<kRule>::Config>}} {}
  PolicyRegistry::Add<JointPolicy<ByRule<kRule>>> add;
};

const AddRule<Rule::kFifoSkew> kFifoSkew{
    "fifo-skew",
    "first come, first served; jobs slowed by spreading wait for a consolidated placement",
    "our own, after Tiresias, NSDI 2019"};
const AddRule<Rule::kLasSkew> kLasSkew{
    "las-skew",
    "least attained service; jobs slowed by spreading wait for a consolidated placement",
    "our own, after Tiresias, NSDI 2019"};
const AddRule<Rule::kShortestRate> kShortestRate{
    "srsf-rate",
    "shortest remaining service first by the rolling estimate, placed where it runs fastest",
    "our own, after Helios QSSF, SC 2021, and Gavel, OSDI 2020"};
const AddRule<Rule::kShortestMove> kShortestMove{
    "srsf-move", "as srsf-rate; jobs move to where they run faster, small ones make room",
    "our own, after Helios QSSF, SC 2021, and Gandiva, OSDI 2018"};

}  // namespace
}  // namespace yard
