// Every user has the same right to GPUs (max-min fairness, as the fair schedulers of Borg, YARN and
// Slurm have it): a job's place in order is what its user holds before it, the older of equals
// first. Of a user's jobs those that run come first, then those that wait in the order in which
// they came. A job stops those that come after it: of users who hold more besides the job that
// stops, or as much where it is younger, so that a large job need not wait for ever.

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

#include "policies/order.h"
#include "policies/policy.h"

namespace yard {
namespace {

constexpr double kAfterAll = 1e15;

struct Config {
  std::string placement = "best-fit";
  std::string share = "user";
  bool preempt = true;
  double hold_s = 600;
  void fields(FieldList& f) {
    f("placement", placement, placement_names(), "where a job goes");
    f("share", share, {"user", "tenant"}, "who has the same right as others");
    f("preempt", preempt, "whether running jobs may be stopped for others");
    f("hold_s", hold_s, 0.0, 1e6, "for so long a job that has begun is let be");
  }
};

class FairShare final : public Policy {
 public:
  explicit FairShare(const Settings& settings) : config_(parse<Config>(settings)) {
    rule_.placement = parse_placement(config_.placement);
  }

  Level level() const override { return Level::kBlind; }
  size_t memory_bytes(const View& view) const override { return Ranked::bytes(view); }

  void decide(const View& view, Memory& memory, Draft& draft) const override {
    if (view.num_waiting() == 0) return;
    Carver carver(memory.data());
    Ranked ranked(view, carver);
    std::unordered_map<int32_t, double> taken;  // GPUs, by user, of the jobs before
    const std::vector<Claim> held = holders_in_order(view, taken);
    rank_waiting(view, ranked, [&](int32_t slot) { return next_place(view, slot, taken); });
    if (!config_.preempt) {
      start_in_order(view, ranked, rule_.placement, draft);
      return;
    }
    std::vector<Claim> may_stop;
    int64_t next_us = kNever;
    for (const Claim& claim : held) {
      if (!view.preemptible(claim.slot)) continue;
      // From when it began to run, whatever its rate became since.
      const int64_t let_be_us = view.until_us(claim.slot) + hold_us();
      if (let_be_us <= view.now_us()) {
        may_stop.push_back(claim);
      } else {
        next_us = std::min(next_us, let_be_us);
      }
    }
    ListedHolders holders(std::move(may_stop));
    const auto stopped_now = [](int32_t) { return kAfterAll; };  // stops nobody in turn
    run_first_in_order(view, ranked, holders, rule_, stopped_now, draft);
    if (view.num_waiting() > 0 && next_us != kNever) draft.wake_at(next_us);
  }

 private:
  int64_t hold_us() const { return static_cast<int64_t>(config_.hold_s * 1e6); }

  // A job that nobody is named for is by itself.
  int32_t owner(const View& view, int32_t slot) const {
    const int32_t named = config_.share == "user" ? view.user(slot) : view.tenant(slot);
    return named != kNone ? named : -2 - view.serial(slot);
  }

  // What the job's user holds, or wants, before it.
  double next_place(const View& view, int32_t slot,
                    std::unordered_map<int32_t, double>& taken) const {
    double& before = taken[owner(view, slot)];
    return std::exchange(before, before + static_cast<double>(view.gpu_milli(slot)) / kWholeGpu);
  }

  // In the order of submission.
  std::vector<Claim> holders_in_order(const View& view,
                                      std::unordered_map<int32_t, double>& taken) const {
    std::vector<Claim> out;
    for (int32_t i = 0; i < view.num_held(); ++i) {
      out.push_back({{0, view.serial(view.held(i))}, view.held(i)});
    }
    std::sort(out.begin(), out.end(), [](const Claim& a, const Claim& b) { return a.key < b.key; });
    for (Claim& claim : out) claim.key.value = next_place(view, claim.slot, taken);
    return out;
  }

  Config config_;
  PreemptionRule rule_;
};

const PolicyRegistry::Add<FairShare> kFairShare{
    "fair-share",
    {.about = "users hold as many GPUs each, as far as they want them",
     .source = "folklore; Borg, EuroSys 2015",
     .fidelity = "GPUs alone count; no decay of what was used before",
     .level = Level::kBlind,
     .preemptive = true,
     .fields = describe<Config>}};

}  // namespace
}  // namespace yard
