// Events for the survival model: the time bins that each job passed or ended in since the last
// decision. State changes only in advance(). Dims: S slots.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "env/base/core/bump_allocator.h"
#include "env/predict/hazard.h"

namespace yard {

// Returns the user's limit; negative if unset or hidden. `View`: env/sim/view/view.h.
template <class View>
int64_t visible_limit_us(const View& view, int32_t slot) {
  using Level = decltype(view.level());
  return view.level() >= Level::kEstimate ? view.limit_us(slot) : -1;
}

// A job reached a bin and then passed it, ended in it, or was stopped in it by its limit.
struct HazardEvent {
  int32_t slot, bin;
  bool ended;
  float part;  // share of the bin that it passed
  bool by_limit() const { return !ended && part < 1; }
};

class HazardEvents {
 public:
  template <class View>
  static size_t bytes(const View& view) {
    return BumpAllocator::bytes<TrackedJob>(view.capacity());
  }

  // Requires: `bump` gives the same memory at every decision, filled with zeros before the first.
  template <class View>
  HazardEvents(const View& view, BumpAllocator& bump)
      : tracked_(bump.allocate<TrackedJob>(view.capacity())) {}

  // A job that started, passed a bin or ended.
  struct JobProgress {
    int32_t slot, bins;
    int64_t next_us;
    bool begins, ended;
  };

  template <class View>
  void scan(const View& view) {
    for (int32_t i = 0; i < view.num_changed(); ++i) {
      const int32_t slot = view.changed(i);
      // The slot holds a job that has not started, so forget the previous one.
      if (view.started(slot) == 0) tracked_[slot] = {};
      if (view.attained_us(slot) > 0 || view.ran_to_its_end(slot)) scan(view, slot);
    }
    for (int32_t i = 0; i < view.num_held(); ++i) scan(view, view.held(i));
  }

  const std::vector<HazardEvent>& events() const { return events_; }
  const std::vector<JobProgress>& progress() const { return progress_; }

  // Returns the bin that a started job had reached when it was last seen.
  int32_t bin(int32_t slot) const { return tracked_[slot].bins; }

  template <class View>
  void advance(const View& view) {
    for (const JobProgress& m : progress_) {
      tracked_[m.slot] = view.finished(m.slot) ? TrackedJob{} : TrackedJob{1, m.bins, m.next_us, 0};
    }
  }

 private:
  struct TrackedJob {
    int32_t begun, bins;  // bins passed so far
    int64_t next_us;      // attained time at which it passes the next one
    int64_t seen;         // in this decision
  };

  static int64_t bin_begin_us(int32_t bin) {
    return bin == 0 ? 0 : static_cast<int64_t>(exp2_coarse(TimeBins::log2_begin(bin)) * 1e6);
  }

  template <class View>
  void scan(const View& view, int32_t slot) {
    TrackedJob& tracked = tracked_[slot];
    const int64_t attained_us = view.attained_us(slot);
    const bool begins = tracked.begun == 0, finished = view.finished(slot);
    if (tracked.seen != 0 || (!begins && !finished && attained_us < tracked.next_us)) return;
    tracked.seen = 1;
    int32_t bins = tracked.bins;
    int64_t next_us = begins ? bin_begin_us(1) : tracked.next_us;
    while (attained_us >= next_us && bins < TimeBins::kBins - 1) {
      events_.push_back({slot, bins, false, 1});
      next_us = bin_begin_us(++bins + 1);
    }
    const int64_t limit_us = visible_limit_us(view, slot);
    // Cluster managers stop jobs some seconds after their limit.
    const bool by_limit = finished && limit_us > 0 && attained_us >= limit_us;
    if (finished) {
      const int64_t from_us = bin_begin_us(bins), to_us = by_limit ? limit_us : attained_us;
      const float part =
          static_cast<float>(to_us - from_us) / static_cast<float>(next_us - from_us);
      events_.push_back({slot, bins, !by_limit, std::clamp(part, 0.0F, kWithin)});
    }
    progress_.push_back({slot, bins, next_us, begins, finished && !by_limit});
  }

  static constexpr float kWithin = 0.9999F;  // a job that passes a whole bin does not end in it

  TrackedJob* tracked_;  // (S)
  std::vector<HazardEvent> events_;
  std::vector<JobProgress> progress_;
};

}  // namespace yard
