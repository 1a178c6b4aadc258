// Tiresias' discretised two-dimensional LAS (Gu et al., NSDI 2019): jobs sink through queues as
// their attained service (time x GPUs) passes the limits; the upper queue goes first, and in a
// queue what runs goes before what waits, then by submission. Needs no knowledge of run times.

#include <array>
#include <cmath>
#include <limits>

#include "policies/order.h"
#include "policies/policy.h"
#include "policies/preemption_cost.h"

namespace yard {
namespace {

struct Config {
  std::string placement = "first-fit";
  double limit_1_gpu_s = 3250;  // the limits of Tiresias' simulator
  double limit_2_gpu_s = 7200;
  double gpu_exponent = 1;
  double cost_weight = 0;
  void fields(FieldList& f) {
    f("placement", placement, placement_names(), "where a job goes");
    f("limit_1_gpu_s", limit_1_gpu_s, 1.0, 1e9, "attained service that ends the first queue");
    f("limit_2_gpu_s", limit_2_gpu_s, 1.0, 1e9, "attained service that ends the second queue");
    f("gpu_exponent", gpu_exponent, 0.0, 2.0, "service is time x GPUs to this power");
    f("cost_weight", cost_weight, 0.0, 100.0,
      "how many times what its preemption costs is taken off a running job's attained time");
  }
};

class Las final : public Policy {
 public:
  explicit Las(const Settings& settings) {
    const auto config = parse<Config>(settings);
    rule_.placement = parse_placement(config.placement);
    exponent_ = config.gpu_exponent;
    cost_weight_ = config.cost_weight;
    limits_us_ = {config.limit_1_gpu_s * 1e6, config.limit_2_gpu_s * 1e6};
    if (limits_us_[1] < limits_us_[0]) {
      throw InputError("las.limit_2_gpu_s",
                       "at least limit_1_gpu_s (" + shortest(config.limit_1_gpu_s) + ")",
                       shortest(config.limit_2_gpu_s));
    }
  }

  Level level() const override { return Level::kBlind; }

  size_t memory_bytes(const View& view) const override {
    return ordered_bytes(view, rule_) + HeldOrder::bytes(view.capacity());
  }

  void decide(const View& view, Memory& memory, Draft& draft) const override {
    Carver carver(memory.data());
    Ranked ranked(view, carver);
    HeldOrder held(view.capacity(), carver);
    RoomIndex rooms(view, rule_.placement, held, carver);
    HeldOrder sinking(view.capacity(), carver);
    const auto waiting = [&](int32_t slot) { return static_cast<double>(queue_of(view, slot, 0)); };
    const auto follow = [&](int32_t slot) {
      held.remove(slot);
      sinking.remove(slot);
      if (view.holds(slot)) {
        const int32_t queue = queue_of(view, slot, spared_us(view, slot));
        const int32_t serial = view.serial(slot);
        if (view.preemptible(slot)) held.put(slot, {queue - 0.5, 0}, serial);
        // The soonest to sink is the last in this order.
        if (queue < 2) sinking.put(slot, {-static_cast<double>(sinks_us(view, slot)), 0}, serial);
      }
      rooms.follow(slot);
    };
    take_in_changed(view, ranked, waiting);
    for (int32_t i = 0; i < view.num_changed(); ++i) follow(view.changed(i));
    for (Claim next = soonest(sinking); next.key.value >= -static_cast<double>(view.now_us());
         next = soonest(sinking)) {
      follow(next.slot);
    }
    OrderedHolders holders(held, rooms, view.now_us());
    run_first_in_order(view, ranked, holders, rule_, waiting, draft);
    for (const Edit& edit : draft.plan().edits) follow(edit.job.slot);
    rooms.refresh();
    // Nothing happens by itself when a running job passes a limit, so somebody has to look.
    const Claim next = soonest(sinking);
    if (view.num_waiting() > 0 && next.slot != kNone) {
      draft.wake_at(-static_cast<int64_t>(next.key.value));
    }
  }

 private:
  double weight(const View& view, int32_t slot) const {
    const int32_t gpus = view.weight_gpus(slot);
    return exponent_ == 1 ? gpus : std::pow(gpus, exponent_);
  }

  // What a holder has run and is not counted, so that who has just begun is not stopped at once.
  int64_t spared_us(const View& view, int32_t slot) const {
    return static_cast<int64_t>(cost_weight_ * static_cast<double>(preemption_cost_us(view, slot)));
  }

  int32_t queue_of(const View& view, int32_t slot, int64_t spared_us) const {
    const double service_us =
        static_cast<double>(view.attained_us(slot) - spared_us) * weight(view, slot);
    return (service_us >= limits_us_[0]) + (service_us >= limits_us_[1]);
  }

  // The key's value is minus the time.
  static Claim soonest(const HeldOrder& sinking) {
    const int32_t slot = sinking.last(0);
    if (slot == kNone) return {{-std::numeric_limits<double>::infinity(), 0}, kNone};
    return {sinking.key(slot, 0), slot};
  }

  // When a holder passes the next limit. Requires: it is in one of the first two queues.
  int64_t sinks_us(const View& view, int32_t slot) const {
    const int64_t spared = spared_us(view, slot);
    const int32_t queue = queue_of(view, slot, spared);
    const double limit_us = limits_us_[static_cast<size_t>(queue)] / weight(view, slot);
    // At least 1: where the quotient was rounded, the limit may still be a hair away.
    const auto left_us = std::max<int64_t>(
        1, static_cast<int64_t>(std::ceil(limit_us)) + spared - view.attained_us(slot));
    const bool starts = view.phase(slot) == Phase::kStarting;
    return (starts ? view.until_us(slot) : view.now_us()) + left_us;
  }

  PreemptionRule rule_;
  double exponent_, cost_weight_;
  std::array<double, 2> limits_us_;
};

const PolicyRegistry::Add<Las> kLas{
    "las",
    {.about = "discretised 2D least attained service",
     .source = "Tiresias, NSDI 2019",
     .fidelity = "its queues and limits; no promotion of starved jobs, placement apart",
     .level = Level::kBlind,
     .servable = true,
     .preemptive = true,
     .fields = describe<Config>}};

}  // namespace
}  // namespace yard
