// The honest sisters of `srtf` and `srsf`: shortest expected remaining time (times GPUs) first,
// where the expectation comes from what the user's finished jobs took. Preemptive, with a margin
// that keeps near ties from stopping each other.

#include "env/predict/user_history.h"
#include "policies/order.h"
#include "policies/policy.h"

namespace yard {
namespace {

struct Config {
  std::string placement = "first-fit";
  double margin_log2 = 1;
  double gpu_exponent = 1;
  double shrink = 1;
  double spread = 1.2;
  void fields(FieldList& f) {
    f("placement", placement, placement_names(), "where a job goes");
    f("margin_log2", margin_log2, 0.0, 10.0,
      "by how many doublings better a job must be to preempt");
    f("gpu_exponent", gpu_exponent, 0.0, 2.0, "the index is time x GPUs to this power");
    f("shrink", shrink, 0.01, 100.0, "jobs of all users that the prior of a user is worth");
    f("spread", spread, 0.2, 3.0, "sd of a user's log run times");
  }
};

class History : public Policy {
 public:
  explicit History(const Config& config)
      : config_(config), life_(config.spread), placement_(parse_placement(config.placement)) {}

  Level level() const override { return Level::kHistory; }

  size_t memory_bytes(const View& view) const override {
    return UserHistory::bytes(view.num_users()) + Ranked::bytes(view);
  }

  void decide(const View& view, Memory& memory, Draft& draft) const override {
    UserHistory history(memory.data());
    history.take_in_changed(view);
    const auto waiting = [&](int32_t slot) { return key(view, history, slot); };
    Carver carver(memory.data() + UserHistory::bytes(view.num_users()));
    Ranked ranked(view, carver);
    take_in_changed(view, ranked, waiting);
    // Every job that ends moves what is expected of all: the order is made anew.
    std::vector<Claim> held;
    for (int32_t i = 0; i < view.num_held(); ++i) {
      const int32_t slot = view.held(i);
      if (!view.preemptible(slot)) continue;
      held.push_back({{key(view, history, slot) - config_.margin_log2, view.serial(slot)}, slot});
    }
    ListedHolders holders(std::move(held));
    run_first_in_order(view, ranked, holders, {placement_, 0}, waiting, draft);
  }

 private:
  double key(const View& view, const UserHistory& history, int32_t slot) const {
    const float median = history.log2_median(view.user(slot), static_cast<float>(config_.shrink));
    const float left = life_.log2_left(median, log2_seconds(view.attained_us(slot)));
    return left + config_.gpu_exponent * log2_coarse(view.weight_gpus(slot));
  }

  Config config_;
  ResidualLife life_;
  Placement placement_;
};

// The one that does not weigh GPUs.
struct SrtfConfig : Config {
  SrtfConfig() { gpu_exponent = 0; }
};

struct SrtfHistory final : History {
  explicit SrtfHistory(const Settings& settings) : History(parse<SrtfConfig>(settings)) {}
};

struct SrsfHistory final : History {
  explicit SrsfHistory(const Settings& settings) : History(parse<Config>(settings)) {}
};

const char* const kSource = "mean residual life on users' history; cf. Helios QSSF, SC 2021";

const PolicyRegistry::Add<SrtfHistory> kSrtfHistory{
    "srtf-history",
    {.about = "shortest expected remaining time first, by the user's finished jobs",
     .source = kSource,
     .fidelity = "our own predictor",
     .level = Level::kHistory,
     .servable = true,
     .preemptive = true,
     .fields = describe<SrtfConfig>}};

const PolicyRegistry::Add<SrsfHistory> kSrsfHistory{
    "srsf-history",
    {.about = "shortest expected remaining time x GPUs first, by the user's finished jobs",
     .source = kSource,
     .fidelity = "our own predictor",
     .level = Level::kHistory,
     .servable = true,
     .preemptive = true,
     .fields = describe<Config>}};

}  // namespace
}  // namespace yard
