// Time slicing as in Gandiva (Xiao et al., OSDI 2018): jobs run in turn, first come, first served.
// A job that waited when a slice began may preempt jobs that ran then and have run for at least
// half a slice. The longest-running is preempted first and goes to the end of the queue. Gandiva's
// slices take a minute, and it suspends and resumes a job in under a second. Here the preemption
// costs of the cluster apply: a more costly stop takes a larger share of a slice, unless
// slice_per_cost makes the slice longer.

#include <algorithm>
#include <utility>
#include <vector>

#include "policies/order.h"
#include "policies/policy.h"

namespace yard {
namespace {

// Beyond any position in the queue: jobs that had their slice come after all waiting jobs.
constexpr double kAfterTheQueue = 1e15;

struct Config {
  std::string placement = "best-fit";
  double slice_s = 60;
  double slice_per_cost = 0;
  void fields(FieldList& f) {
    f("placement", placement, placement_names(), "placement rule");
    f("slice_s", slice_s, 10.0, 1e6,
      "length of a slice, in seconds; waiting jobs may preempt once per slice");
    f("slice_per_cost", slice_per_cost, 0.0, 1e4,
      "minimum length of a slice as a multiple of the preemption cost; 0: none");
  }
};

class Gandiva final : public Policy {
 public:
  explicit Gandiva(const Settings& settings) {
    const auto config = parse<Config>(settings);
    rule_.placement = parse_placement(config.placement);
    slice_us_ = static_cast<int64_t>(config.slice_s * 1e6);
    slice_per_cost_ = config.slice_per_cost;
  }

  Level level() const override { return Level::kBlind; }
  size_t memory_bytes(const View& view) const override { return RankedQueue::bytes(view); }

  void decide(const View& view, Memory& memory, Draft& draft) const override {
    if (view.num_waiting() == 0) return;
    const int64_t stop_us = view.costs().save_us + view.costs().restore_us;
    const auto least_us = static_cast<int64_t>(slice_per_cost_ * static_cast<double>(stop_us));
    const int64_t slice_us = std::max(slice_us_, least_us);
    const int64_t slice_began_us = view.now_us() / slice_us * slice_us;
    std::vector<RankedJob> had_slice;  // the job that has run longest is last in order
    for (int32_t i = 0; i < view.num_held(); ++i) {
      const int32_t slot = view.held(i);
      const int64_t began_us = view.until_us(slot);  // of running: rates may have changed since
      const int64_t ran_us = view.now_us() - began_us;
      if (!view.preemptible(slot) || began_us >= slice_began_us || ran_us < slice_us / 2) continue;
      had_slice.push_back(
          {{kAfterTheQueue + static_cast<double>(ran_us), view.serial(slot)}, slot});
    }
    if (!had_slice.empty() || view.free_gpus() >= view.min_gpus_waited_for()) {
      rotate(view, memory, slice_began_us, std::move(had_slice), draft);
    }
    if (view.num_waiting() > 0 && view.num_held() > 0) draft.wake_at(slice_began_us + slice_us);
  }

 private:
  void rotate(const View& view, Memory& memory, int64_t slice_began_us,
              std::vector<RankedJob> had_slice, Draft& draft) const {
    BumpAllocator bump(memory.data());
    RankedQueue ranked(view, bump);
    const auto queue_position = [&](int32_t slot) {
      const bool may_preempt = view.since_us(slot) < slice_began_us;
      return static_cast<double>(view.queue_rank(slot)) + (may_preempt ? 0 : 2 * kAfterTheQueue);
    };
    rank_waiting(view, ranked, queue_position);
    ListedHolders holders(std::move(had_slice));
    run_first_in_order(view, ranked, holders, rule_, queue_position, draft);
  }

  PreemptionRule rule_;
  int64_t slice_us_ = 0;
  double slice_per_cost_ = 0;
};

const PolicyRegistry::Add<Gandiva> kGandiva{
    "gandiva",
    {.about = "time-slicing: jobs run in turn",
     .source = "Gandiva, OSDI 2018",
     .fidelity =
         "its slices of one minute; saving and restoring hold the GPUs for about 40 s by default, "
         "under 1 s in the paper (--cost-scale 0.025); jobs share no GPU and neither move nor "
         "grow; a large job waits until enough running jobs have had a slice",
     .level = Level::kBlind,
     .preemptive = true,
     .fields = describe<Config>}};

}  // namespace
}  // namespace yard
