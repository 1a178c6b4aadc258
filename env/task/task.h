// What a batch of environments plays: an agent, or the task `select`, which also runs on a device.
#pragma once

#include <concepts>
#include <cstddef>
#include <memory>

#include "env/sim/view/view.h"
#include "env/task/agent.h"
#include "env/task/observation.h"

namespace yard {

template <class T>
concept DeviceTask = requires(const View& view, const typename T::Config& config, std::byte* memory,
                              Observation& out) {
  { T::on_events(view, config, memory) } -> std::same_as<bool>;
  T::observe(view, config, memory, out);
};

// Stands for any agent, and offers those functions of a DeviceTask that an agent has as well.
struct AnyAgentTask {
  using Config = std::shared_ptr<const Agent>;
  static ObservationShape shape(const Config& agent) { return agent->shape(); }
  static InformationLevel level(const Config& agent) { return agent->level(); }
  static size_t memory_bytes(const View& view, const Config& agent) {
    return agent->memory_bytes(view);
  }
};

template <class T>
concept Task = DeviceTask<T> || std::same_as<T, AnyAgentTask>;

}  // namespace yard
