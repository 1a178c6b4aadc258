// Finds the optimal schedule of up to four jobs by exhaustive search, as a reference for policies.
// Time advances in whole steps and preemption costs nothing. A schedule is thus the set of jobs
// that run in each step.
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

#include "env/base/core/check.h"
#include "env/base/core/rng.h"

namespace yard {

struct TinyJob {
  int submit = 0;  // steps
  int32_t gpus = 1;
  int run = 1;
};

inline constexpr size_t kMaxTinyJobs = 4;

// GPUs are counted, not placed. The result is exact on one node and a lower bound on several.
class OptimalScheduleSearch {
 public:
  // Requires: at most kMaxTinyJobs jobs; each fits `gpus`; all can end within 100 steps.
  OptimalScheduleSearch(std::vector<TinyJob> jobs, int32_t gpus)
      : jobs_(std::move(jobs)), gpus_(gpus) {
    YARD_CHECK(jobs_.size() <= kMaxTinyJobs, "more jobs than can be enumerated");
  }

  // Returns the minimum total JCT, in steps.
  int total() {
    State start{};
    for (size_t j = 0; j < jobs_.size(); ++j) start.left[j] = static_cast<int8_t>(jobs_[j].run);
    return min_jct_from(start);
  }

 private:
  struct State {
    int8_t at;
    std::array<int8_t, kMaxTinyJobs> left;
    auto operator<=>(const State&) const = default;  // NOLINT(modernize-use-nullptr): false alarm
  };

  // Returns the minimum total JCT from `state` on: each job in the system adds one step of JCT per
  // step of time.
  int min_jct_from(const State& state) {
    bool done = true;
    int present = 0;
    for (size_t j = 0; j < kMaxTinyJobs && j < jobs_.size(); ++j) {
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
      for (size_t j = 0; j < kMaxTinyJobs && j < jobs_.size(); ++j) {
        if ((runs >> j & 1) == 0) continue;
        possible = possible && jobs_[j].submit <= state.at && state.left[j] > 0;
        used += jobs_[j].gpus;
        --next.left[j];
      }
      // An idle step cannot help while a job is present.
      if (!possible || used > gpus_ || (runs == 0 && present > 0)) continue;
      best = std::min(best, present + min_jct_from(next));
    }
    return best_[state] = best;
  }

  std::vector<TinyJob> jobs_;
  int32_t gpus_;
  std::map<State, int> best_;
};

// Draws 1 to 4 jobs of 1 to 6 steps, submitted 0 to 3 steps apart, or at once if `together`.
inline std::vector<TinyJob> draw_tiny_jobs(Rng rng, uint32_t max_gpus, bool together) {
  std::vector<TinyJob> jobs(1 + rng.below(kMaxTinyJobs));
  int at = 0;
  for (TinyJob& job : jobs) {
    const auto gpus = static_cast<int32_t>(1 + rng.below(max_gpus));
    job = {at, gpus, static_cast<int>(1 + rng.below(6))};
    if (!together) at += static_cast<int>(rng.below(4));
  }
  return jobs;
}

}  // namespace yard
