// Configuration of the C interface: the courses that episodes are drawn from and the batch.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "env/base/config/settings.h"
#include "env/batch/batch_env.h"
#include "experiments/scenario/scenario.h"

namespace yard {

struct EnvConfig {
  std::string agent = "dispatcher";
  std::string trace = "synthetic:habits";
  std::string cluster = "8x8";
  std::string format, from, to, congestion, faults;
  std::string profiles;
  int num_envs = 64;
  int threads = 1;
  int group = 1;
  int episode_jobs = 256;
  int max_decisions = 0;
  int generate_jobs = 0;
  bool skip_unusable = false;
  double cost_scale = 1;
  uint64_t seed = 1;

  void fields(FieldList& f);
};

// Splits `settings`: keys that begin with `agent.`, `trace.` or `faults.` configure the agent,
// trace readers and the fault model; the others are EnvConfig's.
struct EnvSettings {
  explicit EnvSettings(const Settings& settings);  // throws InputError

  EnvConfig config;
  Settings agent, trace, fault_model;
};

// Returns one scenario per course. Throws InputError if an input is unreadable or inconsistent.
std::vector<Scenario> load_env_scenarios(const EnvSettings& settings);

template <Task T>
BasicBatchConfig<T> batch_config(const EnvSettings& settings);

}  // namespace yard
