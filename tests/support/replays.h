// Scenes under published rule sets, and jobs that bring their corners out.
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
  Settings settings = {};  // of the rules
};

Outcome replay(const Scene& scene, const Play& play,
               std::function<void(const SimState&)> watch = nullptr);

// The same, with every state held to what must always be true, and the outcome to the states.
Outcome replay_checked(const Scene& scene, const Play& play);

// What the rules say to it; "" where they play.
std::string refusal(const Scene& scene, const Play& play);

int64_t preemptions(const Outcome& outcome);

// As the published results are written: job_id,submit,start,end in seconds.
std::string csv_of(const Scene& scene, const Outcome& outcome);

struct CoarseJobs {
  int32_t most = 45;  // jobs
  uint32_t gap_s = 4000;
  uint32_t spread_s = 4000;  // of run times; now and then three times as much
  std::vector<uint32_t> grains_s = {1, 25, 50, 325};
  int32_t largest = 8;  // GPUs
  bool powers = false;  // of two, and no other numbers of GPUs
};
// Times are multiples of one of the grains, so that things often happen at one time.
std::vector<Job> coarse_jobs(Rng& rng, const CoarseJobs& options);

std::vector<reference::SecondsJob> in_seconds(const std::vector<Job>& jobs);

// Fails at the first job whose outcome is another.
void expect_same(const Outcome& fast, const std::vector<reference::SecondsOutcome>& slow);

}  // namespace yard::testing
