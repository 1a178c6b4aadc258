#include "experiments/c_abi/env_config.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "env/base/core/error.h"
#include "env/base/text/text.h"
#include "env/task/select_info.h"
#include "experiments/replay/congestion.h"
#include "experiments/replay/load_scenario.h"

namespace yard {
namespace {

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
    throw InputError("congestion", "above 0 and up to " + shortest(kMaxCongestion),
                     "'" + text + "'");
  }
  return value;
}

}  // namespace

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
  f("to", to, "end of the window");
  f("congestion", congestion,
    "target congestion (mean wait / mean run time under greedy); arrivals are scaled to reach it");
  f("faults", faults, "CSV file of faults; faults.node_mtbf_h=N generates them instead");
  f("profiles", profiles, "comma-separated files or folders of measured speeds, for all scenarios");
  f("num_envs", num_envs, 1, 1 << 20, "environments simulated in parallel");
  f("threads", threads, 1, 1024, "threads that simulate the environments");
  f("group", group, 1, 1 << 20, "number of consecutive environments with the same jobs");
  f("episode_jobs", episode_jobs, 1, 1 << 24, "jobs per episode");
  f("max_decisions", max_decisions, 0, 1 << 30,
    "an episode is truncated after this many decisions; 0: never");
  f("generate_jobs", generate_jobs, 0, 1 << 24, "jobs to generate; 0: the generator's default");
  f("skip_unusable", skip_unusable, "skip unusable rows and jobs");
  f("cost_scale", cost_scale, 0, 1000, "factor of the default preemption costs");
  f("seed", seed, 0, UINT64_MAX, "seed of generators, faults and episodes");
}

EnvSettings::EnvSettings(const Settings& settings) {
  Settings own;
  for (const Setting& given : settings.entries()) {
    const std::string_view key = given.key;
    if (key.starts_with("agent.")) {
      agent.set(given.key.substr(6), given.value, given.origin);
    } else if (key.starts_with("trace.")) {
      trace.set(given.key.substr(6), given.value, given.origin);
    } else if (key.starts_with("faults.")) {
      fault_model.set(given.key.substr(7), given.value, given.origin);
    } else {
      own.set(given.key, given.value, given.origin);
    }
  }
  config = parse<EnvConfig>(own);
  if (config.num_envs % config.group != 0) {
    throw InputError("group", "a divisor of num_envs = " + std::to_string(config.num_envs),
                     std::to_string(config.group));
  }
  if (config.agent != kSelectName) agent_info(config.agent);  // throws if there is no such agent
}

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
    if (c.episode_jobs > out.back().workload.size()) {
      throw InputError(
          "episode_jobs", "at most the number of jobs in " + out.back().trace.source,
          std::to_string(c.episode_jobs) + " of " + std::to_string(out.back().workload.size()));
    }
  }
  return out;
}

template <Task T>
BasicBatchConfig<T> batch_config(const EnvSettings& settings) {
  const EnvConfig& config = settings.config;
  BasicBatchConfig<T> out;
  out.worlds = config.num_envs;
  out.threads = config.threads;
  out.group = config.group;
  out.episode_jobs = config.episode_jobs;
  out.max_decisions = config.max_decisions;
  out.prior = false;
  out.seed = config.seed;
  if constexpr (DeviceTask<T>) {
    out.task = select_config(settings.agent);
  } else {
    out.task = make_agent(config.agent, settings.agent);
  }
  return out;
}

template BasicBatchConfig<AgentTask> batch_config<AgentTask>(const EnvSettings&);
template BasicBatchConfig<Select> batch_config<Select>(const EnvSettings&);

}  // namespace yard
