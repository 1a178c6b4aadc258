// The best schedule of up to four jobs by trying all of them: what is optimal, against which
// policies' distance from it is measured. Time goes in whole steps and nothing costs, so a schedule
// is a choice of who runs in each step.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "env/base/check.h"
#include "env/base/rng.h"

namespace yard {

struct TinyJob {
  int submit = 0;  // in steps
  int32_t gpus = 1;
  int run = 1;
};

inline constexpr size_t kMostTinyJobs = 4;

// GPUs are counted, not placed: on several nodes a bound, on one exact.
class BestSchedule {
 public:
  // Requires: at most kMostTinyJobs, that fit, and all are done after at most 100 steps.
  BestSchedule(std::vector<TinyJob> jobs, int32_t gpus) : jobs_(std::move(jobs)), gpus_(gpus) {
    YARD_CHECK(jobs_.size() <= kMostTinyJobs, "more jobs than can be tried");
  }

  // The least total JCT, in steps.
  int total() {
    State start{};
    for (size_t j = 0; j < jobs_.size(); ++j) start.left[j] = static_cast<int8_t>(jobs_[j].run);
    return from(start);
  }

 private:
  struct State {
    int8_t at;
    std::array<int8_t, kMostTinyJobs> left;
    auto operator<=>(const State&) const = default;  // NOLINT(modernize-use-nullptr): its own zero
  };

  // Every job in the system pays one for each step.
  int from(const State& state) {
    bool done = true;
    int present = 0;
    for (size_t j = 0; j < kMostTinyJobs && j < jobs_.size(); ++j) {
      done = done && state.left[j] == 0;
      present += jobs_[j].submit <= state.at && state.left[j] > 0;
    }
    if (done) return 0;
    const auto known = best_.find(state);
    if (known != best_.end()) return known->second;
    int best = 1 << 20;
    for (unsigned runs = 0; runs < 1u << jobs_.size(); ++runs) {
      State next = state;
      ++next.at;
      int used = 0;
      bool possible = true;
      for (size_t j = 0; j < kMostTinyJobs && j < jobs_.size(); ++j) {
        if ((runs >> j & 1) == 0) continue;
        possible = possible && jobs_[j].submit <= state.at && state.left[j] > 0;
        used += jobs_[j].gpus;
        --next.left[j];
      }
      // Nothing is lost by doing something, once somebody is there.
      if (!possible || used > gpus_ || (runs == 0 && present > 0)) continue;
      best = std::min(best, present + from(next));
    }
    return best_[state] = best;
  }

  std::vector<TinyJob> jobs_;
  int32_t gpus_;
  std::map<State, int> best_;
};

// One to four jobs of up to six steps and `most_gpus` GPUs, a few steps apart, or all at once.
inline std::vector<TinyJob> tiny_jobs(Rng rng, uint32_t most_gpus, bool together) {
  std::vector<TinyJob> jobs(1 + rng.below(kMostTinyJobs));
  int at = 0;
  for (TinyJob& job : jobs) {
    const auto gpus = static_cast<int32_t>(1 + rng.below(most_gpus));
    job = {at, gpus, static_cast<int>(1 + rng.below(6))};
    if (!together) at += static_cast<int>(rng.below(4));
  }
  return jobs;
}

}  // namespace yard
