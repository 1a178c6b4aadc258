// Conservative backfilling (Mu'alem and Feitelson, "Utilization, Predictability, Workloads, and
// User Runtime Estimates in Scheduling the IBM SP2 with Backfilling", TPDS 2001). Each waiting job,
// in order of arrival, has a reservation at the earliest time at which enough GPUs are free for its
// expected run time. It starts at that time, so no job delays one that arrived earlier.
// Reservations are recomputed at each decision. None becomes due unless a job ends.
#include <algorithm>
#include <utility>

#include "policies/expected_time.h"
#include "policies/order.h"

namespace yard {
namespace {

struct Config : PlacementConfig {
  int64_t depth = 500;
  void fields(FieldList& f) {
    PlacementConfig::fields(f);
    f("depth", depth, 1, 1'000'000, "number of waiting jobs with reservations; later jobs wait");
  }
};

// The number of free GPUs over time, as a step function.
class FreeGpus {
 public:
  // `ends`: times, not before `now_us` and rising, and the number of GPUs that become free then.
  FreeGpus(int64_t now_us, int32_t gpus, const std::vector<std::pair<int64_t, int32_t>>& ends)
      : steps_{{now_us, gpus}} {
    for (const auto& [at_us, more] : ends) {
      if (steps_.back().at_us < at_us) steps_.push_back({at_us, gpus});
      steps_.back().gpus = gpus += more;
    }
  }

  // Returns the first time from which `gpus` are free for `for_us`, or kNever.
  int64_t earliest(int32_t gpus, int64_t for_us) const {
    size_t from = 0;
    for (size_t i = 0; i < steps_.size(); ++i) {
      if (steps_[i].gpus < gpus) {
        from = i + 1;
      } else if (i + 1 == steps_.size() || steps_[i + 1].at_us - steps_[from].at_us >= for_us) {
        return steps_[from].at_us;
      }
    }
    return kNever;
  }

  void reserve(int64_t from_us, int64_t to_us, int32_t gpus) {
    const size_t first = step_at(from_us), last = step_at(to_us);
    for (size_t i = first; i < last; ++i) steps_[i].gpus -= gpus;
  }

 private:
  struct Step {
    int64_t at_us;
    int32_t gpus;
  };

  // Returns the index of the step that begins at `at_us`. Inserts one if there is none.
  size_t step_at(int64_t at_us) {
    const auto later = [](int64_t us, const Step& step) { return us < step.at_us; };
    const auto it = std::upper_bound(steps_.begin(), steps_.end(), at_us, later);
    const auto i = static_cast<size_t>(it - steps_.begin());
    if (i > 0 && steps_[i - 1].at_us == at_us) return i - 1;
    steps_.insert(it, {at_us, steps_[i - 1].gpus});
    return i;
  }

  std::vector<Step> steps_;  // by rising time
};

class Conservative final : public PlacementRulePolicy<Config, InformationLevel::kEstimate> {
 public:
  using PlacementRulePolicy::PlacementRulePolicy;

  InformationLevel min_information_level() const override { return InformationLevel::kHistory; }

  size_t memory_bytes(const View& view) const override { return RollingEstimate::bytes(view); }

  void decide(const View& view, Memory& memory, Draft& draft) const override {
    BumpAllocator bump(memory.data());
    const ExpectedRunTime expected(view, bump);
    if (view.num_waiting() == 0) return;
    const int64_t now_us = view.now_us();
    std::vector<std::pair<int64_t, int32_t>> ends;
    for (const int32_t slot : view.holder_slots()) {
      const bool starts = view.phase(slot) == Phase::kStarting;
      const int64_t from_us = starts ? view.transition_end_us(slot) : now_us;
      ends.emplace_back(from_us + expected.left_us(slot), view.gpus(slot));
    }
    std::sort(ends.begin(), ends.end());
    FreeGpus free(now_us, view.free_gpus(), ends);
    int64_t left = config_.depth;
    for (int32_t slot = view.queue_head(); slot != kNone && left > 0; --left) {
      const int32_t next = view.queue_next(slot);
      const int64_t for_us = expected.left_us(slot);
      const int32_t gpus = view.gpus(slot);
      const int64_t at_us = free.earliest(gpus, for_us);
      if (at_us == now_us) {
        const int32_t n = place(view, placement_, slot, draft.scratch());
        if (n > 0) draft.start(slot, draft.scratch(), n);
      }
      // A job that finds no placement although enough GPUs are free keeps its reservation.
      if (at_us != kNever) free.reserve(at_us, at_us + for_us, gpus);
      slot = next;
    }
  }
};

const AddPolicy<Conservative> kConservative{
    "conservative",
    "first come, first served; backfills where no earlier job is delayed, by limits or "
    "else estimates",
    "Mu'alem and Feitelson, TPDS 2001",
    "exact where users set limits; reservations count GPUs, not nodes; Slurm: nearest "
    "is the default sched/backfill, with `depth` as bf_max_job_test"};

}  // namespace
}  // namespace yard
