#include "experiments/cli/common_options.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>

#include "env/base/core/error.h"
#include "env/base/text/nearest_name.h"
#include "env/base/text/text.h"
#include "env/sim/rulesets/speed_estimator.h"
#include "experiments/cli/command.h"
#include "experiments/replay/congestion.h"
#include "experiments/report/text_table.h"
#include "experiments/scenario/type_notes.h"

namespace yard::sim {
namespace {

constexpr double kMaxCostScale = 1000;

// Returns `key` without its prefix "owner.", or nothing if it has another prefix.
std::string_view strip_prefix(std::string_view key, std::string_view owner) {
  if (key.size() <= owner.size() + 1 || !key.starts_with(owner) || key[owner.size()] != '.') {
    return {};
  }
  return key.substr(owner.size() + 1);
}

void check(const char* option, double value, double max_value, bool allow_zero) {
  if (std::isfinite(value) && value <= max_value && (value > 0 || (allow_zero && value == 0)))
    return;
  throw InputError(
      option, std::string(allow_zero ? "0 to " : "more than 0, up to ") + shortest_text(max_value),
      shortest_text(value));
}

std::vector<std::string> level_names() {
  std::vector<std::string> out;
  for (int l = 0; l <= static_cast<int>(InformationLevel::kOracle); ++l) {
    out.emplace_back(information_level_name(static_cast<InformationLevel>(l)));
  }
  return out;
}

}  // namespace

std::string json_text(const nlohmann::ordered_json& document, int indent) {
  return document.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

void CommonOptions::add_to(CLI::App& app, bool congestion_list) {
  const auto group = [&](const char* name) { app.option_defaults()->group(name); };
  group("Workload");
  app.add_option("--trace", scenario.trace, "trace file, plain or .gz, or synthetic:NAME")
      ->type_name(kTraceType)
      ->required();
  app.add_option("--format", scenario.format, "format of the trace (default: detected)")
      ->type_name(kFormatType);
  app.add_option("--columns", columns, kColumnsHelp)->default_str("");
  app.add_flag("--skip-unusable", scenario.skip_unusable,
               "skip and count unusable rows and jobs instead of refusing the trace");
  app.add_option("--generate-jobs", scenario.generate_jobs, "number of jobs of a synthetic trace")
      ->default_str("")
      ->check(whole_number(1));
  auto* congestion = app.add_option(
      "--congestion", congestions,
      "scale arrivals until the mean wait under greedy is this multiple of the mean run "
      "time");
  congestion->default_str("");
  if (congestion_list) {
    congestion->delimiter(',');
  } else {
    congestion->expected(1);
  }
  app.add_option("--load-scale", scenario.variation.load,
                 "factor on the arrival rate, applied after --congestion");

  group("Cluster");
  app.add_option(
         "--cluster", scenario.cluster,
         "cluster as NODESxGPUS (8x8, 8x8:v100, 4x8:v100+4x8:k80), a name from `list clusters`, "
         "or a YAML file")
      ->type_name(kClusterType)
      ->required();
  app.add_option("--cluster-scale", scenario.variation.cluster, "factor on the number of nodes");
  app.add_option(
         "--faults", scenario.faults,
         "CSV of faults: at_s,until_s,kind,node,gpus; --set faults.node_mtbf_h=N draws them "
         "at random")
      ->default_str("");

  group("Window");
  WindowOptions& window = scenario.window;
  app.add_option("--jobs-from", window.jobs_from, "number of the first scored job, from 0")
      ->check(whole_number<int64_t>(0));
  app.add_option("--jobs-count", window.jobs_count, "number of scored jobs")
      ->check(whole_number<int64_t>(1));
  app.add_option("--from", window.from,
                 "start of the scored window: seconds, +SECONDS after the first job, a date, or a "
                 "share of the trace such as 60%");
  app.add_option("--to", window.to, "end of the scored window, in the forms of --from");
  app.add_option("--warmup", window.warmup,
                 "time simulated before the window but not scored: seconds, or a share of the "
                 "trace such as 5% (default: a week)");

  group("Policies");
  app.add_option("--placement", run.placement, "placement rule, for policies which allow a choice");
  app.add_option("--allow", allow,
                 "actions which policies may take, comma-separated: start, preempt, move (default: "
                 "all)")
      ->default_str("");
  app.add_option("--information", information,
                 "highest level of information which policies may use")
      ->check(one_of(level_names()));
  add_speeds_option(app);

  group("Simulation");
  app.add_option("--rules", run.rules,
                 "rule set: how time passes and what stops cost (see `list rules`)")
      ->type_name(kRulesType);
  app.add_option("--cost-scale", scenario.cost_scale, "factor on the default costs of preemption");
  app.add_option(
         "--rates", scenario.measured.rates,
         "file of measured goodputs, for --rules pollux and for run times missing from the trace")
      ->default_str("");
  app.add_option("--throughputs", scenario.measured.throughputs,
                 "file of measured steps per second in Gavel's JSON format, for --rules gavel and "
                 "for run times missing from the trace")
      ->default_str("");
  app.add_option("--profiles", scenario.profiles,
                 "comma-separated files or folders of measured speeds; jobs with a measured model "
                 "run at the speed measured for their placement")
      ->default_str("");
  app.add_option(
         "--set", set,
         "a setting: OWNER.key=value, where OWNER is the name of a policy or one of the words "
         "trace, rules, faults, checkpoints, models and demands; key=value is short for "
         "rules.key=value")
      ->default_str("");
  app.add_option("--seed", scenario.seed, "seed of generators and random draws")
      ->check(whole_number<uint64_t>(0));

  group("Output");
  app.add_flag("--json", json, "print one JSON document");
  app.add_option("--json-out", json_out, "write the JSON document to a file");
}

void CommonOptions::add_speeds_option(CLI::App& app) {
  app.add_option("--speeds", speeds,
                 "information of policies on job speeds: exact (tables of --profiles and the "
                 "cluster), noisy (tables with a log-normal error of 25 %) or learned (estimates "
                 "from running jobs); oracle policies always use exact")
      ->default_str("exact");
}

void CommonOptions::finish(const std::vector<std::string>& policies) {
  if (!information.empty()) run.information = parse_information_level(information);
  if (!speeds.empty()) run.speeds = parse_speed_information(speeds, "--speeds");
  if (!json_out.empty()) check_writable(json_out);
  set_trace_columns(columns, scenario.trace_settings);
  run.seed = scenario.seed;
  check("--cost-scale", scenario.cost_scale, kMaxCostScale, true);
  ScenarioOverrides& variation = scenario.variation;
  if (!allow.empty())
    variation.allows = parse_allowed_actions(split_list(allow, "--allow"), "--allow");
  check("--cluster-scale", variation.cluster, kMaxScale, false);
  check("--load-scale", variation.load, kMaxScale, false);
  for (const double congestion : congestions) {
    check("--congestion", congestion, kMaxCongestion, false);
  }
  if (congestions.size() == 1) scenario.congestion = congestions.front();
  if (scenario.generate_jobs > 0 && !scenario.trace.starts_with("synthetic:")) {
    throw InputError("--generate-jobs", "--trace synthetic:NAME", "'" + scenario.trace + "'");
  }
  if (scenario.cost_scale != 1 && run.rules != "default") {
    throw InputError("--cost-scale",
                     "--rules default, since published rule sets have their own costs", run.rules);
  }
  require_registered_name<RuleSetRegistry>("--rules", run.rules);
  const RuleSet::Info& rules = RuleSetRegistry::info(run.rules);
  scenario.gpus_needed = !rules.policies.empty();  // a published rule set
  // Measurement files supply run times which a trace lacks. Some rule sets read them too.
  scenario.measured.read_by_rules = rules.needs;
  for (const auto& [key, file] : {std::pair("rates", &scenario.measured.rates),
                                  std::pair("throughputs", &scenario.measured.throughputs)}) {
    if (file->empty()) continue;
    const std::string option = std::string("--") + key;
    if (!std::filesystem::exists(*file)) throw InputError(option, "a file", "'" + *file + "'");
    if (std::ranges::find(rules.needs, key) == rules.needs.end()) continue;
    run.rule_set.set(key, *file, option);
  }
  for (const std::string& policy : policies)
    policy_settings_.emplace_back(parse_named_policy(policy).name, Settings{});
  for (const std::string& assignment : set) {
    Settings one;
    one.overlay(assignment, "--set " + assignment);
    const GivenSetting& given = one.entries().front();
    bool used = false;
    // A key alone is the rule set's, if that has settings.
    if (given.key.find('.') == std::string::npos &&
        (!rules.fields().empty() || !rules.needs.empty())) {
      run.rule_set.set(given.key, given.value, given.origin);
      continue;
    }
    const auto assign = [&](std::string_view owner, Settings& settings) {
      const std::string_view key = strip_prefix(given.key, owner);
      if (key.empty()) return;
      settings.set(std::string(key), given.value, given.origin);
      used = true;
    };
    assign("trace", scenario.trace_settings);
    assign("rules", run.rule_set);
    assign("faults", scenario.fault_model);
    assign("checkpoints", scenario.checkpoints);
    assign("models", scenario.models);
    assign("demands", scenario.demands);
    for (auto& [policy, settings] : policy_settings_) assign(policy, settings);
    if (used) continue;
    throw InputError(
        given.origin,
        "P.key=value, P one of: " + join(policies) +
            ", trace, rules, faults, checkpoints, models, "
            "demands",
        "'" + given.key + "'" + did_you_mean(given.key.substr(0, given.key.find('.')), policies));
  }
}

RunOptions CommonOptions::run_of(const std::string& policy) const {
  RunOptions options = run;
  for (const auto& [name, settings] : policy_settings_) {
    if (name == parse_named_policy(policy).name) options.policy = settings;
  }
  return options;
}

void CommonOptions::print_result(const nlohmann::ordered_json& document,
                                 const std::function<void()>& table) const {
  if (json) {
    std::fputs(json_text(document).c_str(), stdout);
  } else {
    table();
  }
  std::fflush(stdout);
}

void CommonOptions::save(const nlohmann::ordered_json& document, AtomicFiles& files) const {
  if (!json_out.empty()) files.add(json_out, json_text(document));
  files.commit();
}

std::vector<std::string> split_list(const std::string& text, const std::string& option) {
  std::vector<std::string> out;
  for (const std::string_view part : split(text, ',')) {
    const std::string name(trim(part));
    if (name.empty()) throw InputError(option, "names separated by commas", "'" + text + "'");
    if (std::find(out.begin(), out.end(), name) != out.end()) {
      throw InputError(option, "each name once", "'" + name + "' twice");
    }
    out.push_back(name);
  }
  return out;
}

std::vector<std::string> split_policies(const std::string& text, const std::string& option) {
  std::vector<std::string> out = split_list(text, option), names;
  for (const std::string& policy : out) {
    const std::string name = parse_named_policy(policy).name;
    if (std::find(names.begin(), names.end(), name) != names.end()) {
      throw InputError(option, "each name once", "'" + name + "' twice");
    }
    names.push_back(name);
  }
  return out;
}

void check_policies(const std::vector<std::string>& policies, const std::string& rules,
                    const std::string& option) {
  if (!RuleSetRegistry::info(rules).policies.empty()) return;
  for (const std::string& text : policies) {
    const std::string policy = parse_named_policy(text).policy;
    const bool path = policy.find_first_of("/:") != policy.npos || is_tuned_policy_file(policy) ||
                      std::filesystem::exists(policy);
    if (!path) require_policy(option, policy);
  }
}

void print_time_limit_notes(const std::vector<std::string>& notes) {
  for (const std::string& note : notes) std::fprintf(stderr, "note: %s\n", note.c_str());
}

void print_scenario_notes(const Scenario& scenario,
                          const std::vector<PreparedPolicy>& prepared_policies,
                          SpeedInformation speeds) {
  for (const std::string& line : scenario_notes(scenario, speeds)) {
    std::fprintf(stderr, "%s\n", line.c_str());
  }
  if (scenario.congestion > 0) {
    std::fprintf(stderr, "congestion %s with arrivals scaled by %.6g, load %s\n",
                 number_text(scenario.congestion, 3).c_str(), scenario.factor,
                 offered_load_text(scenario.load).c_str());
  }
  if (!has_time_limits(scenario.trace)) {
    std::vector<const PreparedPolicy*> all;
    for (const PreparedPolicy& prepared : prepared_policies) all.push_back(&prepared);
    print_time_limit_notes(missing_time_limits_notes(all));
  }
  for (const PreparedPolicy& prepared : prepared_policies) {
    if (!lacks_elastic_jobs_to_resize(prepared, scenario.trace)) continue;
    std::fprintf(stderr,
                 "note: %s sets the size of elastic jobs, but no job of this trace is elastic\n",
                 prepared.name.c_str());
  }
}

}  // namespace yard::sim
