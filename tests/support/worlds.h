// What the tests of batches share: a busy small cluster, and ways to choose among legal actions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "env/base/rng.h"
#include "env/batch/batch_env.h"
#include "tests/support/scene.h"

namespace yard::testing {

// Half again as much work as the cluster can do, so that jobs always wait.
inline std::vector<Job> busy_jobs(int32_t count, uint64_t seed = 7) {
  return random_jobs(Rng{seed}, {.count = count, .mean_gap_s = 120, .mean_run_s = 900});
}

inline const uint8_t* mask_of(const BatchEnv& env, int world) {
  return env.mask().data() + static_cast<int64_t>(world) * Dispatch::kActions;
}

inline int32_t random_action(const BatchEnv& env, int world, Rng& rng) {
  const uint8_t* mask = mask_of(env, world);
  std::vector<int32_t> legal;
  for (int32_t a = 0; a < Dispatch::kActions; ++a) {
    if (mask[a] != 0) legal.push_back(a);
  }
  return legal[rng.below(static_cast<uint32_t>(legal.size()))];
}

// One action a world; world `n` draws from its own stream, whatever the other worlds do.
inline std::vector<int32_t> random_actions(const BatchEnv& env, uint64_t step) {
  std::vector<int32_t> actions;
  for (int n = 0; n < env.worlds(); ++n) {
    Rng rng = Rng{99}.split(static_cast<uint64_t>(n)).split(step);
    actions.push_back(random_action(env, n, rng));
  }
  return actions;
}

// Everything a learner reads of one world after a step.
struct Seen {
  std::vector<float> numbers;
  std::vector<uint8_t> mask;
  int32_t rows, suggested;
  Ending ending;
  friend bool operator==(const Seen&, const Seen&) = default;
};

inline Seen seen(const BatchEnv& env, int world) {
  const auto n = static_cast<size_t>(world);
  Seen out;
  const auto add = [&](std::span<const float> all, size_t width) {
    for (const float x : all.subspan(n * width, width)) out.numbers.push_back(x);
  };
  add(env.jobs(), size_t{Dispatch::kJobs} * Dispatch::kJobFeatures);
  add(env.cluster(), Dispatch::kClusterFeatures);
  add(env.prior(), Dispatch::kActions);
  add(env.reward(), 1);
  add(env.dt_s(), 1);
  out.numbers.push_back(static_cast<float>(env.elapsed_s(world)));
  out.mask.assign(mask_of(env, world), mask_of(env, world) + Dispatch::kActions);
  out.rows = env.rows()[n];
  out.suggested = env.suggested()[n];
  out.ending = env.ending()[n];
  return out;
}

}  // namespace yard::testing
