// Replays of scenes under published rule sets, and random jobs which provoke ties.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "env/base/core/rng.h"
#include "tests/reference/seconds.h"
#include "tests/support/scene.h"

namespace yard::testing {

struct Play {
  std::string rules, policy, placement;
  Settings settings = {};  // of the rule set
};

Outcome replay(const Scene& scene, const Play& play,
               std::function<void(const SimState&)> watch = nullptr);

// As replay(), and checks the invariants of every state and the outcome against the states.
Outcome replay_checked(const Scene& scene, const Play& play);

// Returns the rule set's error message for this play, or "" if it accepts it.
std::string refusal(const Scene& scene, const Play& play);

int64_t preemptions(const Outcome& outcome);

// Returns the outcome in the format of the published results: job_id,submit,start,end in seconds.
std::string csv_of(const Scene& scene, const Outcome& outcome);

struct CoarseJobs {
  int32_t max_jobs = 45;  // number of jobs
  uint32_t gap_s = 4000;
  uint32_t spread_s = 4000;  // of run times; some are three times as long
  std::vector<uint32_t> grains_s = {1, 25, 50, 325};
  int32_t largest = 8;  // GPUs
  bool powers = false;  // GPUs are powers of two only
};
// Returns jobs whose times are multiples of one of the grains, so that events often coincide.
std::vector<Job> coarse_jobs(Rng& rng, const CoarseJobs& options);

std::vector<reference::SecondsJob> in_seconds(const std::vector<Job>& jobs);

// Fails at the first job whose outcome differs.
void expect_same(const Outcome& fast, const std::vector<reference::SecondsOutcome>& slow);

}  // namespace yard::testing
