// Events for the survival model: the time bins that each job passed or ended in since the last
// decision. The state of HazardEvents changes only in advance(). Dims: S slots.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "env/base/core/bump_allocator.h"
#include "env/predict/attained.h"
#include "env/predict/hazard.h"
#include "env/sim/view/view.h"

namespace yard {

// Returns the job's time limit; negative if the limit is unset or hidden from the policy.
inline int64_t visible_limit_us(const View& view, int32_t slot) {
  return view.level() >= InformationLevel::kEstimate ? view.limit_us(slot) : kNone;
}

// A job that reached a bin has passed the bin, ended in it, or was stopped in it by its limit.
struct HazardEvent {
  int32_t slot, bin;
  bool ended;
  float part;  // share of the bin that the job passed
  bool ended_by_limit() const { return !ended && part < 1; }
};

class HazardEvents {
 public:
  static size_t bytes(const View& view) {
    return BumpAllocator::bytes<TrackedJob>(view.num_slots());
  }

  // Requires: `bump` gives the same memory at every decision, filled with zeros before the first.
  HazardEvents(const View& view, BumpAllocator& bump, Attained attained)
      : tracked_(bump.allocate<TrackedJob>(view.num_slots())), attained_(attained) {}

  // Progress of a job that started, passed a bin or ended.
  struct JobProgress {
    int32_t slot, bins;
    int64_t next_us;
    bool begins, ended;
  };

  void scan(const View& view);

  const std::vector<HazardEvent>& events() const { return events_; }
  const std::vector<JobProgress>& progress() const { return progress_; }

  // Returns the bin that a started job had reached when it was last seen.
  int32_t bin(int32_t slot) const { return tracked_[slot].bins; }

  void update_tracked_jobs(const View& view);

 private:
  struct TrackedJob {
    int32_t begun, bins;  // bins: number of bins passed so far
    int64_t next_us;      // attained time at which the job passes the next bin
    int64_t seen;         // 1: the job was seen in this decision
  };

  void scan(const View& view, int32_t slot);

  TrackedJob* tracked_;  // (S)
  Attained attained_;
  std::vector<HazardEvent> events_;
  std::vector<JobProgress> progress_;
};

}  // namespace yard
