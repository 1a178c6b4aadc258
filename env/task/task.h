// What a batch of environments plays: an agent, or the one task which also runs on a device
// (select.h), whose functions are static.
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

// Stands for any agent.
struct AgentTask {
  using Config = std::shared_ptr<const Agent>;
};

template <class T>
concept Task = DeviceTask<T> || std::same_as<T, AgentTask>;

template <DeviceTask T>
ObservationShape shape_of(const typename T::Config&) {
  return {T::kJobs, T::kJobFeatures, T::kClusterFeatures};
}
template <std::same_as<AgentTask>>
ObservationShape shape_of(const AgentTask::Config& agent) {
  return agent->shape();
}

template <DeviceTask T>
Level level_of(const typename T::Config&) {
  return T::kLevel;
}
template <std::same_as<AgentTask>>
Level level_of(const AgentTask::Config& agent) {
  return agent->level();
}

template <DeviceTask T>
size_t memory_bytes_of(const View& view, const typename T::Config&) {
  return T::memory_bytes(view);
}
template <std::same_as<AgentTask>>
size_t memory_bytes_of(const View& view, const AgentTask::Config& agent) {
  return agent->memory_bytes(view);
}

}  // namespace yard
