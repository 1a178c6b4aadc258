#include "include/yardmaster_env.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "env/base/config/settings.h"
#include "env/base/core/error.h"
#include "env/base/text/text.h"
#include "env/batch/batch_env.h"
#include "env/task/select_info.h"
#include "experiments/replay/congestion.h"
#include "experiments/replay/load_scenario.h"
#include "experiments/scenario/scenario.h"
#include "policies/policy.h"

namespace yard {
namespace {

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

// Returns the value for EnvSpec number `c`; a single value serves each.
std::string value_for_env(const char* key, const std::string& values, size_t c, size_t env_specs) {
  const std::vector<std::string_view> each = split(values, ',');
  if (each.size() != 1 && each.size() != env_specs) {
    throw InputError(key, "one value, or " + std::to_string(env_specs) + ", one per scenario",
                     std::to_string(each.size()));
  }
  return std::string(trim(each[each.size() == 1 ? 0 : c]));
}

std::optional<double> congestion_of(const std::string& text) {
  if (text.empty()) return std::nullopt;
  const std::optional<double> value = parse_number<double>(text);
  if (!value || !(*value > 0 && *value <= kMaxCongestion)) {
    throw InputError("congestion", "above 0 and up to " + shortest_text(kMaxCongestion),
                     "'" + text + "'");
  }
  return value;
}

void EnvConfig::fields(FieldList& f) {
  f("agent", agent,
    "agent, which defines observations and actions; see list agents. agent.KEY=VALUE sets its "
    "settings");
  f("trace", trace, "trace file or synthetic:NAME; a comma-separated list makes one scenario each");
  f("cluster", cluster,
    "cluster; this and the next options up to `faults` have one value for all scenarios, or a "
    "comma-separated list");
  f("format", format, "trace format; empty: detected");
  f("from", from, "start of the window of jobs: seconds, NN% or a date");
  f("to", to, "end of the window of jobs: seconds, NN% or a date");
  f("congestion", congestion,
    "target congestion (mean wait / mean run time under greedy); arrivals are scaled to reach it");
  f("faults", faults, "CSV file of faults; faults.node_mtbf_h=N draws random faults instead");
  f("profiles", profiles, "comma-separated files or folders of measured speeds, for all scenarios");
  f("num_envs", num_envs, 1, 1 << 20, "environments simulated in parallel");
  f("threads", threads, 1, 1024, "threads that simulate the environments");
  f("group", group, 1, 1 << 20, "number of consecutive environments with the same jobs");
  f("episode_jobs", episode_jobs, 1, 1 << 24,
    "jobs per episode; a trace with fewer jobs gives episodes of all its jobs");
  f("max_decisions", max_decisions, 0, 1 << 30,
    "an episode is truncated after this many decisions; 0: never");
  f("generate_jobs", generate_jobs, 0, 1 << 24, "jobs to generate; 0: the generator's default");
  f("skip_unusable", skip_unusable, "skip unusable rows and jobs");
  f("cost_scale", cost_scale, 0, 1000, "factor of the default preemption costs");
  f("seed", seed, 0, UINT64_MAX, "seed of generators, faults and episodes");
}

EnvSettings::EnvSettings(const Settings& settings) {
  Settings own;
  const std::pair<std::string_view, Settings*> parts[] = {
      {"agent.", &agent}, {"trace.", &trace}, {"faults.", &fault_model}};
  for (const GivenSetting& given : settings.entries()) {
    const auto part = std::ranges::find_if(
        parts, [&](const auto& one) { return given.key.starts_with(one.first); });
    const bool is_own = part == std::end(parts);
    (is_own ? own : *part->second)
        .set(given.key.substr(is_own ? 0 : part->first.size()), given.value, given.origin);
  }
  config = parse<EnvConfig>(own);
  if (config.num_envs % config.group != 0) {
    throw InputError("group", "a divisor of num_envs = " + std::to_string(config.num_envs),
                     std::to_string(config.group));
  }
  if (config.agent == kSelectName) return;
  if (!AgentRegistry::has(config.agent)) {
    std::vector<std::string> names = AgentRegistry::names();
    names.emplace_back(kSelectName);
    throw unknown_name("agent", names, config.agent);
  }
}

// Returns one scenario per course. Throws InputError if an input is unreadable or inconsistent.
std::vector<Scenario> load_env_scenarios(const EnvSettings& settings) {
  const EnvConfig& c = settings.config;
  size_t env_specs = 1;
  for (const std::string* values :
       {&c.trace, &c.cluster, &c.format, &c.from, &c.to, &c.congestion, &c.faults}) {
    env_specs = std::max(env_specs, split(*values, ',').size());
  }
  std::vector<Scenario> out;
  out.reserve(env_specs);
  for (size_t i = 0; i < env_specs; ++i) {
    const auto at = [i, env_specs](const char* key, const std::string& values) {
      return value_for_env(key, values, i, env_specs);
    };
    ScenarioOptions options;
    options.trace = at("trace", c.trace);
    options.cluster = at("cluster", c.cluster);
    options.format = at("format", c.format);
    options.window.from = at("from", c.from);
    options.window.to = at("to", c.to);
    options.congestion = congestion_of(at("congestion", c.congestion));
    options.faults = at("faults", c.faults);
    options.profiles = c.profiles;
    options.cost_scale = c.cost_scale;
    options.skip_unusable = c.skip_unusable;
    options.seed = c.seed;
    options.generate_jobs = c.generate_jobs;
    options.trace_settings = settings.trace;
    options.fault_model = settings.fault_model;
    out.push_back(load_scenario(options));
    if (out.back().workload.size() == 0) throw InputError("trace", "jobs", "none");
  }
  return out;
}

// An episode has at most the jobs of the smallest workload.
int32_t episode_jobs(const std::vector<Scenario>& scenarios, const EnvConfig& config) {
  int32_t out = config.episode_jobs;
  for (const Scenario& s : scenarios) out = std::min(out, s.workload.size());
  return out;
}

template <Task T>
BasicBatchConfig<T> batch_config(const std::vector<Scenario>& scenarios,
                                 const EnvSettings& settings) {
  const EnvConfig& config = settings.config;
  BasicBatchConfig<T> out;
  out.worlds = config.num_envs;
  out.threads = config.threads;
  out.group = config.group;
  out.episode_jobs = episode_jobs(scenarios, config);
  out.max_decisions = config.max_decisions;
  out.prior = false;
  out.seed = config.seed;
  if constexpr (DeviceTask<T>) {
    out.task = job_selection_config(settings.agent);
  } else {
    out.task = make_agent(config.agent, settings.agent);
  }
  return out;
}

template <class T>
std::unique_ptr<BasicBatchEnv<T>> make_batch(const std::vector<Scenario>& scenarios,
                                             const EnvSettings& settings) {
  std::vector<EnvSpec> env_specs;
  for (const Scenario& s : scenarios) env_specs.push_back({s.fixed, &s.workload, 1});
  return std::make_unique<BasicBatchEnv<T>>(env_specs, batch_config<T>(scenarios, settings));
}

nlohmann::ordered_json set_json(const char* name, int32_t rows,
                                const std::vector<Feature>& features) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Feature& f : features) list.push_back({{"name", f.name}, {"meaning", f.meaning}});
  return {{"name", name}, {"rows", rows}, {"features", list}};
}

std::string spec_text(const std::string& agent, InformationLevel level, int32_t actions,
                      int32_t episode_jobs, const std::vector<Feature>& action_features,
                      const std::vector<Feature>& state_features) {
  const nlohmann::ordered_json sets = {set_json("state", 1, state_features),
                                       set_json("actions", actions - 1, action_features)};
  return nlohmann::ordered_json{{"agent", agent},
                                {"level", information_level_name(level)},
                                {"actions", actions},
                                {"episode_jobs", episode_jobs},
                                {"sets", sets}}
      .dump();
}

Settings settings_of(const char* text) {
  if (text == nullptr) throw InputError("settings", "lines of key=value", "a null pointer");
  Settings settings;
  for (const std::string_view line : split(text, '\n')) {
    if (trim(line).empty()) continue;
    const std::string key(trim(line.substr(0, line.find('='))));
    if (settings.find(key) != nullptr) throw InputError(key, "one value", "two");
    settings.overlay(std::string(trim(line)), "settings");
  }
  return settings;
}

static_assert(static_cast<int>(Ending::kTerminated) == YARDMASTER_TERMINATED);
static_assert(static_cast<int>(Ending::kTruncated) == YARDMASTER_TRUNCATED);
static_assert(sizeof(Ending) == 1);

}  // namespace
}  // namespace yard

struct yardmaster_env {
  explicit yardmaster_env(const yard::EnvSettings& settings)
      : scenarios(yard::load_env_scenarios(settings)) {
    if (settings.config.agent == yard::kSelectName) {
      batch = yard::make_batch<yard::JobSelectionTask>(scenarios, settings);
      spec = yard::spec_text(
          settings.config.agent, yard::job_selection_info().level, yard::JobSelectionTask::kActions,
          yard::episode_jobs(scenarios, settings.config), yard::job_selection_action_features(),
          yard::job_selection_state_features());
    } else {
      batch = yard::make_batch<yard::AnyAgentTask>(scenarios, settings);
      const auto agent = yard::make_agent(settings.config.agent, settings.agent);
      spec = yard::spec_text(settings.config.agent, agent->level(), agent->shape().actions(),
                             yard::episode_jobs(scenarios, settings.config),
                             agent->action_features(), agent->state_features());
    }
    std::visit([this](const auto& b) { worlds = b->worlds(), shape = b->shape(); }, batch);
  }

  // Returns does(batch).
  template <class Does>
  auto with(Does does) const {
    return std::visit([&](const auto& b) { return does(*b); }, batch);
  }

  // Runs does(batch). Returns 0, or -1 if it throws; `error` is then the exception's text.
  template <class Does>
  int guarded(Does does) {
    error.clear();
    try {
      with(does);
      return 0;
    } catch (const std::exception& problem) {
      error = problem.what();
      return -1;
    }
  }

  std::vector<yard::Scenario> scenarios;
  std::variant<std::unique_ptr<yard::BatchEnv>, std::unique_ptr<yard::SelectEnv>> batch;
  int32_t worlds = 0;
  yard::ObservationShape shape;
  std::string spec;  // of observations, as JSON
  std::string error;
  bool begun = false;  // step() and fork() are allowed
};

namespace {

// Throws InputError at the first illegal action.
template <class Batch>
void check_actions(const Batch& batch, const int32_t* actions) {
  const auto count = static_cast<size_t>(batch.shape().actions());
  const auto mask = batch.mask();
  for (size_t n = 0; n < static_cast<size_t>(batch.worlds()); ++n) {
    const bool inside = actions[n] >= 0 && static_cast<size_t>(actions[n]) < count;
    if (inside && mask[n * count + static_cast<size_t>(actions[n])] != 0) continue;
    throw yard::InputError("actions[" + std::to_string(n) + "]", "a legal action",
                           std::to_string(actions[n]));
  }
}

void check_begun(const yardmaster_env& env, const char* what) {
  if (!env.begun) throw yard::InputError(what, "a reset() or restore() first", "none");
}

}  // namespace

extern "C" {

int32_t yardmaster_env_abi(void) { return YARDMASTER_ENV_ABI; }

yardmaster_env* yardmaster_env_open(const char* settings, char* error, size_t size) {
  try {
    return new yardmaster_env(yard::EnvSettings(yard::settings_of(settings)));
  } catch (const std::exception& problem) {
    if (error != nullptr && size > 0) {
      const size_t length = std::min(size - 1, std::strlen(problem.what()));
      std::memcpy(error, problem.what(), length);
      error[length] = '\0';
    }
    return nullptr;
  }
}

void yardmaster_env_close(yardmaster_env* env) { delete env; }

const char* yardmaster_env_help(void) {
  static const std::string help = [] {
    std::string text;
    for (const auto& field : yard::describe<yard::EnvConfig>()) {
      text += field.key + "=" + field.value + "  " + field.help + "\n";
    }
    return text;
  }();
  return help.c_str();
}

const char* yardmaster_env_error(const yardmaster_env* env) { return env->error.c_str(); }

const char* yardmaster_env_spec(const yardmaster_env* env) { return env->spec.c_str(); }

int32_t yardmaster_env_worlds(const yardmaster_env* env) { return env->worlds; }
int32_t yardmaster_env_rows(const yardmaster_env* env) { return env->shape.rows; }
int32_t yardmaster_env_job_features(const yardmaster_env* env) { return env->shape.row_features; }
int32_t yardmaster_env_cluster_features(const yardmaster_env* env) {
  return env->shape.cluster_features;
}
int32_t yardmaster_env_actions(const yardmaster_env* env) { return env->shape.actions(); }

int yardmaster_env_reset(yardmaster_env* env) {
  return env->guarded([env](auto& b) {
    b.reset();
    env->begun = true;
  });
}

int yardmaster_env_step(yardmaster_env* env, const int32_t* actions) {
  return env->guarded([env, actions](auto& b) {
    check_begun(*env, "step");
    check_actions(b, actions);
    b.step({actions, static_cast<size_t>(b.worlds())});
  });
}

const float* yardmaster_env_jobs(const yardmaster_env* env) {
  return env->with([](const auto& b) { return b.jobs().data(); });
}
const float* yardmaster_env_cluster(const yardmaster_env* env) {
  return env->with([](const auto& b) { return b.cluster().data(); });
}
const uint8_t* yardmaster_env_mask(const yardmaster_env* env) {
  return env->with([](const auto& b) { return b.mask().data(); });
}
const int32_t* yardmaster_env_expert_action(const yardmaster_env* env) {
  return env->with([](const auto& b) { return b.expert_action().data(); });
}
const float* yardmaster_env_reward(const yardmaster_env* env) {
  return env->with([](const auto& b) { return b.reward().data(); });
}
const float* yardmaster_env_dt_s(const yardmaster_env* env) {
  return env->with([](const auto& b) { return b.dt_s().data(); });
}
const uint8_t* yardmaster_env_ending(const yardmaster_env* env) {
  return env->with(
      [](const auto& b) { return reinterpret_cast<const uint8_t*>(b.ending().data()); });
}
const float* yardmaster_env_final_jobs(const yardmaster_env* env) {
  return env->with([](const auto& b) { return b.final_jobs().data(); });
}
const float* yardmaster_env_final_cluster(const yardmaster_env* env) {
  return env->with([](const auto& b) { return b.final_cluster().data(); });
}

int yardmaster_env_set_weights(yardmaster_env* env, const double* weights, int32_t count) {
  return env->guarded([=](auto& b) {
    const auto n = static_cast<size_t>(std::max(count, 0));
    if (n != env->scenarios.size()) {
      throw yard::InputError("weights", std::to_string(env->scenarios.size()),
                             std::to_string(count));
    }
    double sum = 0;
    for (size_t c = 0; c < n; ++c) {
      if (!(weights[c] >= 0) || !std::isfinite(weights[c])) {
        throw yard::InputError("weights[" + std::to_string(c) + "]", "a finite number, at least 0",
                               yard::shortest_text(weights[c]));
      }
      sum += weights[c];
    }
    if (sum <= 0) throw yard::InputError("weights", "at least one above 0", "none");
    b.set_env_spec_weights({weights, n});
  });
}

int yardmaster_env_fork(yardmaster_env* env, int32_t from, int32_t to) {
  return env->guarded([=](auto& b) {
    check_begun(*env, "fork");
    for (const int32_t world : {from, to}) {
      if (world < 0 || world >= b.worlds() || from == to) {
        throw yard::InputError(
            "fork", "two different environments from 0 to " + std::to_string(b.worlds() - 1),
            std::to_string(from) + " to " + std::to_string(to));
      }
    }
    b.fork(from, to);
  });
}

size_t yardmaster_env_save(yardmaster_env* env, void* to, size_t size) {
  size_t bytes = 0;
  env->guarded([&](auto& b) {
    check_begun(*env, "save");
    const std::vector<std::byte> saved = b.save();
    bytes = saved.size();
    if (to != nullptr && size >= bytes) std::memcpy(to, saved.data(), bytes);
  });
  return bytes;
}

int yardmaster_env_restore(yardmaster_env* env, const void* from, size_t size) {
  return env->guarded([=](auto& b) {
    b.restore({static_cast<const std::byte*>(from), size});
    env->begun = true;
  });
}

}  // extern "C"
