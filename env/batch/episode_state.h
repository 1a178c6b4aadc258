// The state that a batch of environments keeps of each world.
#pragma once

#include <memory>
#include <vector>

#include "env/base/os/huge_pages.h"
#include "env/batch/batch_env.h"
#include "env/batch/saved.h"

namespace yard {

// The state of one world on one EnvSpec, with the memory of its task.
template <Task T>
struct BasicBatchEnv<T>::EpisodeState {
  EpisodeState(const EnvSpec& env_spec, const BasicBatchConfig<T>& config, HugePages& pages)
      : world(env_spec.fixed, config.episode_jobs, &pages),
        view(world.fixed(), world.state(), T::level(config.task)),
        memory((T::memory_bytes(view, config.task) + 7) / 8, &pages),
        scratch(env_spec.fixed.max_pieces()),
        draft(world.fixed(), world.state()),
        agent_memory(memory_bytes()) {
    list.needs_prior = config.prior;
    list.needs_exploration = config.exploration_mask;
  }

  std::byte* memory_bytes() { return reinterpret_cast<std::byte*>(memory.data()); }

  void list_actions(const Agent& agent) {
    list.clear();
    agent.actions(view, agent_memory, list);
  }

  World world;
  View view;
  std::pmr::vector<uint64_t> memory;  // memory of the task
  std::vector<Piece> scratch;
  // For agents: draft of the current decision, its actions so far, and the actions to choose from.
  Draft draft;
  AgentMemory agent_memory;
  std::vector<int32_t> actions_taken;
  ActionList list;
};

template <Task T>
struct BasicBatchEnv<T>::EnvInstance : SavedWorldState {
  explicit EnvInstance(const Rng& stream) : SavedWorldState{.rng = stream} {}

  std::vector<std::unique_ptr<EpisodeState>> episode_states;  // by EnvSpec, created on first use
  EpisodeState* episode_state = nullptr;                      // state of the current episode
  Observation observation{};                                  // the world's slice of the tensors
  EpisodeResult result{};
  bool has_result = false;
};

}  // namespace yard
