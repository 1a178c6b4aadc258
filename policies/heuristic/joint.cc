// Order, type, place, preemption and moves together (joint.h), by several indices: the truth, which
// is an oracle's, what finished jobs lasted, attained service, or the order of submission.

#include "policies/joint.h"

#include <optional>

#include "env/predict/rolling_estimate.h"
#include "env/predict/survival.h"

namespace yard {
namespace {

// Times are work: what a job does on its reference type, whatever it runs on.
class WorkView : public View {
 public:
  explicit WorkView(const View& view) : View(view) {}
  int64_t attained_us(int32_t slot) const { return worked_us(slot); }
};

struct Truth {
  using Config = JointConfig;
  static constexpr Level kLevel = Level::kOracle;
  explicit Truth(const Config&) {}
  static size_t bytes(const View&) { return 0; }
  struct Now {
    Now(const Truth&, const View& view, Carver&) : view(view) {}
    double seconds(int32_t slot) const { return view.left_us(slot) * 1e-6; }
    const View& view;
  };
};

struct Attained {
  using Config = JointConfig;
  static constexpr Level kLevel = Level::kBlind;
  explicit Attained(const Config&) {}
  static size_t bytes(const View&) { return 0; }
  struct Now {
    Now(const Attained&, const View& view, Carver&) : view(view) {}
    double seconds(int32_t slot) const {
      return static_cast<double>(view.attained_us(slot)) * 1e-6;
    }
    const View& view;
  };
};

struct Observed {
  struct Config : JointConfig {
    double gittins = 0.85;
    void fields(FieldList& f) {
      JointConfig::fields(f);
      f("gittins", gittins, 0.0, 1.0,
        "1: Gittins' index; 0: the mean time left; between: a geometric mean of both");
    }
  };
  static constexpr Level kLevel = Level::kHistory;
  explicit Observed(const Config& c) : gittins(c.gittins) {}
  static size_t bytes(const View& view) { return Survival::bytes(view); }

  struct Now {
    Now(const Observed& source, const View& view, Carver& carver)
        : source(source), view(view), survival(this->view, carver) {
      survival.follow(this->view);
    }
    double seconds(int32_t slot) const {
      float hazards[TimeBins::kBins] = {};
      survival.hazards(view, slot, source.weights, hazards);
      const Outlook ahead = look_ahead(source.edges, view.attained_us(slot), hazards);
      return exp2_coarse((1 - source.gittins) * log2_coarse(ahead.mean_s) +
                         source.gittins * log2_coarse(ahead.gittins_s));
    }
    const Observed& source;
    WorkView view;
    Survival survival;
  };

  double gittins;
  SurvivalWeights weights;
  BinEdges edges;
};

// Published rules for places and types, each with constants of its own and an order that was
// published with it: what the search over all of them has to beat.
enum class Rule { kFifoSkew, kLasSkew, kShortestRate, kShortestMove };

struct RuleConfig : JointConfig {
  explicit RuleConfig(Rule rule) {
    margin_log2 = 0.5;
    type_price = 0, harm = 0, left_over = 0.1, stop = 0, clear = 0, spread = 0;
    move = false, preempt = rule != Rule::kFifoSkew;
    if (rule == Rule::kFifoSkew || rule == Rule::kLasSkew) {
      rate_floor = 0.75, patience_s = 3600;  // whom spreading hurts waits for a place together
      gpu_exponent = rule == Rule::kLasSkew ? 1 : 0;
    } else {
      rate_floor = 0.5, patience_s = 7200;
      harm = 1;  // bad pairs are kept apart
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

  struct Now {
    Now(const ByRule&, const View& view, Carver& carver) : view(view) {
      if (!kByHistory) return;
      estimate.emplace(this->view, carver);
      estimate->follow(this->view);
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
             .fidelity = "its order and its rule for places; options, margin and timer are ours",
             .level = ByRule<kRule>::kLevel,
             .preemptive = kRule != Rule::kFifoSkew,
             .fields = describe<typename ByRule<kRule>::Config>}} {}
  PolicyRegistry::Add<JointPolicy<ByRule<kRule>>> add;
};

const AddRule<Rule::kFifoSkew> kFifoSkew{
    "fifo-skew", "first come first served; whom spreading hurts waits for a place together",
    "Tiresias, NSDI 2019"};
const AddRule<Rule::kLasSkew> kLasSkew{
    "las-skew", "least attained service; whom spreading hurts waits for a place together",
    "Tiresias, NSDI 2019"};
const AddRule<Rule::kShortestRate> kShortestRate{
    "srsf-rate", "shortest service left by the rolling estimate, where it runs fastest",
    "Helios QSSF, SC 2021; Gavel, OSDI 2020"};
const AddRule<Rule::kShortestMove> kShortestMove{
    "srsf-move", "the same; jobs move to where they run faster, small ones make room",
    "Helios QSSF, SC 2021; Gandiva, OSDI 2018"};

const PolicyRegistry::Add<JointPolicy<Observed>> kJoint{
    "joint",
    {.about = "order, type, place, preemption and moves together, by what jobs like it lasted",
     .source = "our own",
     .fidelity = "our own",
     .level = Level::kHistory,
     .preemptive = true,
     .fields = describe<Observed::Config>}};

const PolicyRegistry::Add<JointPolicy<Attained>> kJointLas{
    "joint-las",
    {.about = "the same in the order of attained service",
     .source = "our own",
     .fidelity = "our own; least attained service as in Tiresias",
     .level = Level::kBlind,
     .preemptive = true,
     .fields = describe<JointConfig>}};

const PolicyRegistry::Add<JointPolicy<Truth>> kJointOracle{
    "joint-oracle",
    {.about = "the same by true time left: a bound",
     .source = "our own",
     .fidelity = "our own",
     .level = Level::kOracle,
     .servable = false,
     .preemptive = true,
     .fields = describe<JointConfig>}};

}  // namespace
}  // namespace yard
