#include "experiments/replay/occupancy.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "env/base/core/check.h"
#include "experiments/stats/moments.h"

namespace yard {

constexpr int64_t kHourUs = 3'600'000'000;

void Occupancy::see(const Step& step) {
  if (!steps_.empty() && steps_.back().at_us == step.at_us) steps_.pop_back();
  YARD_CHECK(steps_.empty() || steps_.back().at_us < step.at_us, "times must increase");
  steps_.push_back(step);
}

void Occupancy::record_state(const SimState& state) {
  const StateHeader& head = *state.head;
  see({head.now_us, int64_t{gpus_} - head.free_gpus, head.waiting});
}

OccupancyFigures Occupancy::figures(int64_t from_us, int64_t to_us) const {
  YARD_CHECK(from_us < to_us && !steps_.empty(), "a non-empty interval with recorded steps");
  std::vector<double> hours(static_cast<size_t>((to_us - from_us + kHourUs - 1) / kHourUs));
  double held_us = 0, waiting_us = 0, queued_us = 0;
  for (size_t s = 0; s < steps_.size(); ++s) {
    const Step& step = steps_[s];
    const int64_t until_us = s + 1 < steps_.size() ? steps_[s + 1].at_us : to_us;
    const int64_t end_us = std::min(until_us, to_us);
    for (int64_t at_us = std::max(step.at_us, from_us); at_us < end_us;) {
      const int64_t hour = (at_us - from_us) / kHourUs;
      const int64_t next_us = std::min(end_us, from_us + (hour + 1) * kHourUs);
      const auto length_us = static_cast<double>(next_us - at_us);
      const int64_t hour_us = std::min(kHourUs, to_us - from_us - hour * kHourUs);
      hours[static_cast<size_t>(hour)] +=
          length_us * static_cast<double>(step.held) / gpus_ / static_cast<double>(hour_us);
      held_us += length_us * static_cast<double>(step.held);
      waiting_us += length_us * static_cast<double>(step.waiting);
      queued_us += step.waiting > 0 ? length_us : 0;
      at_us = next_us;
    }
  }
  const auto length_us = static_cast<double>(to_us - from_us);
  return {.held = held_us / length_us / gpus_,
          .held_sd = std::sqrt(variance(hours)),
          .autocorrelation_1h = autocorrelation(hours, 1),
          .autocorrelation_24h = autocorrelation(hours, 24),
          .waiting = waiting_us / length_us,
          .queued = queued_us / length_us};
}

Occupancy logged_occupancy(const std::vector<Job>& jobs, int32_t gpus) {
  struct Change {
    int64_t held = 0, waiting = 0;
  };
  std::map<int64_t, Change> changes;
  for (const Job& job : jobs) {
    YARD_CHECK(job.logged_start_us >= 0 && job.logged_end_us >= 0,
               "a logged job needs start and end times");
    changes[job.submit_us].waiting += 1;
    changes[job.logged_start_us].waiting -= 1;
    changes[job.logged_start_us].held += job.gpus;
    changes[job.logged_end_us].held -= job.gpus;
  }
  Occupancy out(gpus);
  Occupancy::Step now{0, 0, 0};
  for (const auto& [at_us, change] : changes) {
    out.see(now = {at_us, now.held + change.held, now.waiting + change.waiting});
  }
  return out;
}

}  // namespace yard
