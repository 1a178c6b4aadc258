// The format of saved worlds, and the hash of the settings on which saved worlds depend.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "env/base/files/file.h"
#include "env/batch/batch_env.h"

namespace yard {

// State of a world that must be saved; the task's memory and the simulator's state follow it.
struct SavedWorldState {
  Rng rng;  // stream of the world's episodes; a fork has the stream of another world
  int64_t env_spec = 0, episode = -1, decisions = 0;
  int64_t is_done = 0;        // 1: between two episodes
  int64_t actions_taken = 0;  // number of actions in the current decision, set by save()
  double jct_sum_s = 0;
};

constexpr size_t kHashBytes = 64;  // hexadecimal hash at the start of the saved bytes

template <class V>
void append_bytes(std::string& to, const V& value) {
  to.append(reinterpret_cast<const char*>(&value), sizeof value);
}

template <class V>
void append_bytes(std::string& to, const V* values, int32_t count) {
  to.append(reinterpret_cast<const char*>(values), sizeof(V) * static_cast<size_t>(count));
}

// Returns a hash of all settings on which saved worlds depend.
template <Task T>
std::string signature_of(const std::vector<EnvSpec>& env_specs, const BasicBatchConfig<T>& config) {
  std::string all;
  for (const int value :
       {config.worlds, config.first_world, config.group, config.episode_jobs, config.max_decisions,
        static_cast<int>(config.wait_at_end), T::shape(config.task).actions(),
        T::shape(config.task).cluster_features}) {
    append_bytes(all, value);
  }
  append_bytes(all, config.seed);
  if constexpr (std::same_as<T, AnyAgentTask>) {
    all += config.task->feature_schema("");
    for (const auto& [key, value] : config.task->settings()) all += key + '=' + value + '\n';
  }
  for (const EnvSpec& env_spec : env_specs) {
    const JobColumns& jobs = env_spec.fixed.jobs;
    const SpecColumns& spec = env_spec.fixed.spec;
    // This value determines the sizes of a saved state and of the task's memory.
    append_bytes(all, state_bytes(sizes_for(env_spec.fixed, config.episode_jobs)));
    append_bytes(all, env_spec.fixed.allows.preempt);
    append_bytes(all, env_spec.fixed.allows.move);
    append_bytes(all, env_spec.fixed.costs.save_us);
    append_bytes(all, env_spec.fixed.costs.restore(1));
    append_bytes(all, jobs.num_users);
    append_bytes(all, jobs.num_jobs);
    append_bytes(all, jobs.submit_us, jobs.num_jobs);
    append_bytes(all, jobs.gpus, jobs.num_jobs);
    append_bytes(all, env_spec.workload->truth().work_us, jobs.num_jobs);
    append_bytes(all, spec.node_gpus, spec.num_nodes);
    append_bytes(all, spec.node_speed, spec.num_nodes);
  }
  return sha256_hex(all);
}

inline std::string hash_of(const std::string& signature, std::span<const std::byte> saved) {
  return sha256_hex(signature +
                    sha256_hex({reinterpret_cast<const char*>(saved.data()), saved.size()}));
}

}  // namespace yard
