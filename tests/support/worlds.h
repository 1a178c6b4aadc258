// Shared by the tests of batches: a busy small cluster, and random choices of legal actions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "env/base/core/rng.h"
#include "env/batch/batch_env.h"
#include "tests/support/scene.h"

namespace yard::testing {

// Returns jobs with 1.5 times the work which the cluster can do, so that jobs always wait.
inline std::vector<Job> busy_jobs(int32_t count, uint64_t seed = 7) {
  return random_jobs(Rng{seed}, {.count = count, .mean_gap_s = 120, .mean_run_s = 900});
}

template <class T>
const uint8_t* mask_of(const BasicBatchEnv<T>& env, int world) {
  return env.mask().data() + static_cast<int64_t>(world) * env.shape().actions();
}

template <class T>
int32_t random_action(const BasicBatchEnv<T>& env, int world, Rng& rng) {
  const uint8_t* mask = mask_of(env, world);
  std::vector<int32_t> legal;
  for (int32_t a = 0; a < env.shape().actions(); ++a) {
    if (mask[a] != 0) legal.push_back(a);
  }
  return legal[rng.below(static_cast<uint32_t>(legal.size()))];
}

// Returns one action per world. World `n` draws from its own stream, independently of the others.
template <class T>
std::vector<int32_t> random_actions(const BasicBatchEnv<T>& env, uint64_t step) {
  std::vector<int32_t> actions;
  for (int n = 0; n < env.worlds(); ++n) {
    Rng rng = Rng{99}.split(static_cast<uint64_t>(n)).split(step);
    actions.push_back(random_action(env, n, rng));
  }
  return actions;
}

// Everything which a learner reads of one world after a step.
struct WorldOutputs {
  std::vector<float> numbers;
  std::vector<uint8_t> mask;
  int32_t rows, expert_action;
  Ending ending;
  friend bool operator==(const WorldOutputs&, const WorldOutputs&) = default;
};

template <class T>
WorldOutputs seen(const BasicBatchEnv<T>& env, int world) {
  const auto n = static_cast<size_t>(world);
  WorldOutputs out;
  const auto add = [&](std::span<const float> all, size_t width) {
    for (const float x : all.subspan(n * width, width)) out.numbers.push_back(x);
  };
  const ObservationShape& shape = env.shape();
  const auto actions = static_cast<size_t>(shape.actions());
  add(env.jobs(), static_cast<size_t>(shape.rows) * static_cast<size_t>(shape.row_features));
  add(env.cluster(), static_cast<size_t>(shape.cluster_features));
  add(env.prior(), actions);
  add(env.reward(), 1);
  add(env.dt_s(), 1);
  out.numbers.push_back(static_cast<float>(env.elapsed_s(world)));
  out.mask.assign(mask_of(env, world), mask_of(env, world) + actions);
  out.rows = env.rows()[n];
  out.expert_action = env.expert_action()[n];
  out.ending = env.ending()[n];
  return out;
}

}  // namespace yard::testing
