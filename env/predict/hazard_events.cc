#include "env/predict/hazard_events.h"

#include <algorithm>

namespace yard {
namespace {

constexpr float kWithin = 0.9999F;  // a job that passes a whole bin does not end in it

int64_t bin_begin_us(int32_t bin) {
  return bin == 0 ? 0 : static_cast<int64_t>(exp2_coarse(TimeBins::log2_begin(bin)) * 1e6);
}

}  // namespace

void HazardEvents::scan(const View& view) {
  for (int32_t i = 0; i < view.num_changed(); ++i) {
    const int32_t slot = view.changed_slot(i);
    // The slot holds a job that has not started, so forget the previous one.
    if (view.times_started(slot) == 0) tracked_[slot] = {};
    if (yard::attained_us(view, slot, attained_) > 0 || view.ended_after_running(slot))
      scan(view, slot);
  }
  for (int32_t i = 0; i < view.num_holders(); ++i) scan(view, view.holder_slot(i));
}

void HazardEvents::update_tracked_jobs(const View& view) {
  for (const JobProgress& m : progress_) {
    tracked_[m.slot] = view.finished(m.slot) ? TrackedJob{} : TrackedJob{1, m.bins, m.next_us, 0};
  }
}

void HazardEvents::scan(const View& view, int32_t slot) {
  TrackedJob& tracked = tracked_[slot];
  const int64_t attained_us = yard::attained_us(view, slot, attained_);
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
    const float part = static_cast<float>(to_us - from_us) / static_cast<float>(next_us - from_us);
    events_.push_back({slot, bins, !by_limit, std::clamp(part, 0.0F, kWithin)});
  }
  progress_.push_back({slot, bins, next_us, begins, finished && !by_limit});
}

}  // namespace yard
