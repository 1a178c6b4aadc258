// What one agent sees, may do and is paid for: a struct of static functions that these concepts
// check. `Task` alone is for the host and the device; a decision point may take several actions
// before it is closed.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

#include "env/sim/plan.h"
#include "env/sim/view.h"
#include "env/task/observation.h"

namespace yard {

template <class T>
concept Task = requires(const View& view, const typename T::Config& config, std::byte* memory,
                        Observation& out) {
  { T::take_in(view, config, memory) } -> std::same_as<bool>;
  T::observe(view, config, memory, out);
};

// A task whose actions are edits of a draft: a decision is laid open, takes actions, the one to do
// nothing among them, until it asks for no more, and is closed.
template <class T>
concept DraftingTask = Task<T> && requires(const View& view, const typename T::Config& config,
                                           std::byte* memory, int32_t action, Draft& draft) {
  // Lays it open again as take_in() does, but takes nothing in.
  T::open(view, config, memory);
  { T::asks(view, config, memory) } -> std::same_as<bool>;
  T::take(view, config, memory, action, draft);
  T::close(view, config, memory, draft);
};

// What a task is once it is configured. Most are the same however they are; one that stands for a
// class of its own (RowPlay) is asked.
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

// What a step's reward is the growth of. job_us: jobs in the system, integrated over time; minus it
// in seconds is paid where the task does not say what it is paid for.
struct Earned {
  int64_t job_us;
  double own = 0;
};

template <class T>
concept EarningTask = Task<T> &&
    requires(const View& view, const typename T::Config& config, const std::byte* memory) {
  { T::earned(view, config, memory, 1.0) } -> std::same_as<double>;
};

template <Task T>
Earned earned(const View& view, const typename T::Config& config, const std::byte* memory,
              int64_t job_us) {
  if constexpr (EarningTask<T>) {
    return {job_us, T::earned(view, config, memory, 1e-6 * static_cast<double>(job_us))};
  } else {
    return {job_us};
  }
}

template <Task T>
double reward_of(const Earned& before, const Earned& after) {
  if constexpr (EarningTask<T>) return after.own - before.own;
  return -1e-6 * static_cast<double>(after.job_us - before.job_us);
}

}  // namespace yard
