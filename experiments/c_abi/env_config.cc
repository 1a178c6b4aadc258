#include "experiments/c_abi/env_config.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "env/base/core/error.h"
#include "env/base/text/text.h"
#include "env/sim/placement/placement_rules.h"
#include "experiments/replay/congestion.h"
#include "experiments/replay/load_scenario.h"

namespace yard {
namespace {

// Returns the value for EnvSpec number `c`; a single value serves each.
std::string value_for_env(const char* key, const std::string& values, size_t c, size_t env_specs) {
  const std::vector<std::string_view> each = split(values, ',');
  if (each.size() != 1 && each.size() != env_specs) {
    throw InputError(key, "one, or as many as courses, " + std::to_string(env_specs),
                     std::to_string(each.size()));
  }
  return std::string(trim(each[each.size() == 1 ? 0 : c]));
}

std::optional<double> congestion_of(const std::string& text) {
  if (text.empty()) return std::nullopt;
  const std::optional<double> value = parse_number<double>(text);
  if (!value || !(*value > 0 && *value <= kMaxCongestion)) {
    throw InputError("congestion", "more than 0, up to " + shortest(kMaxCongestion),
                     "'" + text + "'");
  }
  return value;
}

}  // namespace

void EnvConfig::fields(FieldList& f) {
  f("task", task, {"dispatch", "select"}, "what is decided and seen");
  f("trace", trace, "file or synthetic:NAME; several, joined by commas, are a course each");
  f("cluster", cluster, "as the next ones: one for all courses, or one each, joined by commas");
  f("format", format, "of the traces; empty: recognised");
  f("from", from, "start of the window of jobs: seconds, a date, or 60%");
  f("to", to, "its end");
  f("congestion", congestion,
    "arrivals are scaled until greedy's mean wait is this times the mean run time");
  f("faults", faults, "CSV of what befalls GPUs; faults.node_mtbf_h=N draws it");
  f("profiles", profiles, "files or folders of measured speeds, joined by commas; for all courses");
  f("worlds", worlds, 1, 1 << 20, "how many are played at once");
  f("threads", threads, 1, 1024, "that share them");
  f("group", group, 1, 1 << 20, "so many neighbours play the same jobs");
  f("episode_jobs", episode_jobs, 1, 1 << 24, "of one episode");
  f("max_decisions", max_decisions, 0, 1 << 30, "after which an episode is cut off; 0: never");
  f("generate_jobs", generate_jobs, 0, 1 << 24, "of a generator; 0: its own number");
  f("preempt", preempt, "whether running jobs may be stopped; of dispatch");
  f("skip_unusable", skip_unusable, "leave out rows and jobs that cannot be used");
  f("placement", placement, {std::begin(kPlacementRuleNames), std::end(kPlacementRuleNames)},
    "where jobs go");
  f("cost_scale", cost_scale, 0, 1000, "times the default costs of preemption");
  f("seed", seed, 0, UINT64_MAX, "of generators, faults and episodes");
}

EnvSettings::EnvSettings(const Settings& settings) {
  Settings own;
  for (const Setting& given : settings.entries()) {
    const std::string_view key = given.key;
    if (key.starts_with("trace.")) {
      trace.set(given.key.substr(6), given.value, given.origin);
    } else if (key.starts_with("faults.")) {
      fault_model.set(given.key.substr(7), given.value, given.origin);
    } else {
      own.set(given.key, given.value, given.origin);
    }
  }
  config = parse<EnvConfig>(own);
  if (config.worlds % config.group != 0) {
    throw InputError("group", "a divisor of worlds, " + std::to_string(config.worlds),
                     std::to_string(config.group));
  }
  if (config.task == "select" && config.preempt) {
    throw InputError("preempt", "false, where the task select never stops a job", "true");
  }
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
          "episode_jobs", "at most the jobs of " + out.back().trace.source,
          std::to_string(c.episode_jobs) + " of " + std::to_string(out.back().workload.size()));
    }
  }
  return out;
}

template <Task T>
BasicBatchConfig<T> batch_config(const EnvConfig& config) {
  BasicBatchConfig<T> out;
  out.worlds = config.worlds;
  out.threads = config.threads;
  out.group = config.group;
  out.episode_jobs = config.episode_jobs;
  out.max_decisions = config.max_decisions;
  out.prior = false;
  out.seed = config.seed;
  if constexpr (requires { out.task.preempt; }) out.task.preempt = config.preempt;
  const auto* const at =
      std::find(std::begin(kPlacementRuleNames), std::end(kPlacementRuleNames), config.placement);
  out.task.placement = static_cast<PlacementRule>(at - std::begin(kPlacementRuleNames));
  return out;
}

template BasicBatchConfig<Dispatch> batch_config<Dispatch>(const EnvConfig&);
template BasicBatchConfig<Select> batch_config<Select>(const EnvConfig&);

}  // namespace yard
