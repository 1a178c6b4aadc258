// What one agent sees, may do and is paid for: a struct of static functions, for the host and the
// device, that this concept checks. A decision point may take several actions before it is closed.
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
                        Observation& out, int32_t slot, int64_t time_us) {
  { T::kActions } -> std::convertible_to<int>;
  { T::memory_bytes(view) } -> std::same_as<size_t>;
  { T::take_in(view, config, memory) } -> std::same_as<bool>;
  T::observe(view, config, memory, out);
  { T::legal(view, config, slot) } -> std::same_as<bool>;
  { T::reward(time_us, time_us) } -> std::same_as<double>;
};

// A task whose actions are edits of a draft: a decision is laid open, takes actions, the one to do
// nothing among them, until it asks for no more, and is closed.
template <class T>
concept DraftingTask = Task<T> && requires(const View& view, const typename T::Config& config,
                                           std::byte* memory, int32_t action, Draft& draft) {
  // Lays it open again as take_in() does, but takes nothing in.
  T::open(view, config, memory);
  { T::asks(view, memory) } -> std::same_as<bool>;
  T::take(view, config, memory, action, draft);
  T::close(view, config, memory, draft);
};

}  // namespace yard
