#include "experiments/c_abi/env_config.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "env/base/error.h"
#include "env/base/text.h"
#include "env/sim/choose.h"
#include "experiments/congestion.h"

namespace yard {
namespace {

// Returns the value for Course number `c`; a single value serves each.
std::string of_course(const char* key, const std::string& values, size_t c, size_t courses) {
  const std::vector<std::string_view> each = split(values, ',');
  if (each.size() != 1 && each.size() != courses) {
    throw InputError(key, "one, or as many as courses, " + std::to_string(courses),
                     std::to_string(each.size()));
  }
  return std::string(trim(each[each.size() == 1 ? 0 : c]));
}

std::optional<double> congestion_of(const std::string& text) {
  if (text.empty()) return std::nullopt;
  const std::optional<double> value = parse_number<double>(text);
  if (!value || !(*value > 0 && *value <= kMostCongestion)) {
    throw InputError("congestion", "more than 0, up to " + shortest(kMostCongestion),
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
  f("placement", placement, {std::begin(kPlacementNames), std::end(kPlacementNames)},
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

std::vector<Scenario> load_courses(const EnvSettings& settings) {
  const EnvConfig& c = settings.config;
  size_t courses = 1;
  for (const std::string* values :
       {&c.trace, &c.cluster, &c.format, &c.from, &c.to, &c.congestion, &c.faults}) {
    courses = std::max(courses, split(*values, ',').size());
  }
  std::vector<Scenario> out;
  out.reserve(courses);
  for (size_t i = 0; i < courses; ++i) {
    const auto at = [i, courses](const char* key, const std::string& values) {
      return of_course(key, values, i, courses);
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
      std::find(std::begin(kPlacementNames), std::end(kPlacementNames), config.placement);
  out.task.placement = static_cast<Placement>(at - std::begin(kPlacementNames));
  return out;
}

template BasicBatchConfig<Dispatch> batch_config<Dispatch>(const EnvConfig&);
template BasicBatchConfig<Select> batch_config<Select>(const EnvConfig&);

}  // namespace yard
