// Concepts for tasks: what an agent observes, may do and is rewarded for, as static functions.
// A `Task` may run on host and device. A decision may have several actions.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

#include "env/sim/view/plan.h"
#include "env/sim/view/view.h"
#include "env/task/observation.h"

namespace yard {

template <class T>
concept Task = requires(const View& view, const typename T::Config& config, std::byte* memory,
                        Observation& out) {
  { T::on_events(view, config, memory) } -> std::same_as<bool>;
  T::observe(view, config, memory, out);
};

// A task whose actions edit a draft: call begin_round(), then apply() with actions (doing nothing
// is one of them) while needs_action() returns true, then commit().
template <class T>
concept DraftingTask = Task<T> && requires(const View& view, const typename T::Config& config,
                                           std::byte* memory, int32_t action, Draft& draft) {
  // Opens the decision again as on_events() does, but processes no events.
  T::begin_round(view, config, memory);
  { T::needs_action(view, config, memory) } -> std::same_as<bool>;
  T::apply(view, config, memory, action, draft);
  T::commit(view, config, memory, draft);
};

// Properties of a configured task. They are constants of most task types; a type that stands for
// many agents (RowTaskAdapter) computes them from its configuration.
template <Task T>
TaskShape shape_of(const typename T::Config& config) {
  if constexpr (requires { T::shape(config); }) {
    return T::shape(config);
  } else {
    return {T::kJobs, T::kJobFeatures, T::kClusterFeatures};
  }
}

template <Task T>
Level level_of(const typename T::Config& config) {
  if constexpr (requires { T::level(config); }) {
    return T::level(config);
  } else {
    return T::kLevel;
  }
}

template <Task T>
size_t memory_bytes_of(const View& view, const typename T::Config& config) {
  if constexpr (requires { T::memory_bytes(view, config); }) {
    return T::memory_bytes(view, config);
  } else {
    return T::memory_bytes(view);
  }
}

// Cumulative reward; a step's reward is its growth. job_us: jobs in the system, integrated over
// time. The reward is minus that in seconds unless the task defines its own.
struct CumulativeReward {
  int64_t job_us;
  double own = 0;
};

template <class T>
concept RewardingTask = Task<T> &&
    requires(const View& view, const typename T::Config& config, const std::byte* memory) {
  { T::cumulative_reward(view, config, memory, 1.0) } -> std::same_as<double>;
};

template <Task T>
CumulativeReward cumulative_reward(const View& view, const typename T::Config& config,
                                   const std::byte* memory, int64_t job_us) {
  if constexpr (RewardingTask<T>) {
    return {job_us, T::cumulative_reward(view, config, memory, 1e-6 * static_cast<double>(job_us))};
  } else {
    return {job_us};
  }
}

template <Task T>
double reward_of(const CumulativeReward& before, const CumulativeReward& after) {
  if constexpr (RewardingTask<T>) return after.own - before.own;
  return -1e-6 * static_cast<double>(after.job_us - before.job_us);
}

}  // namespace yard
