#include "experiments/evaluate/policy_specs.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "env/base/files/file.h"
#include "env/sim/rulesets/speed_estimator.h"
#include "experiments/replay/load_scenario.h"

namespace yard {
namespace {

// Increase when equal inputs_of() give other scores: after a change of a reader, the calibration,
// replicas or metrics.
constexpr int kResultsVersion = 1;

constexpr const char* kMargins[] = {"0", "0.1", "0.3", "1", "3"};
constexpr const char* kNoisyMargins[] = {"0", "0.3", "1"};

bool has_field(const std::string& policy, const std::string& key) {
  const std::vector<Field> fields = PolicyRegistry::info(policy).fields();
  return std::ranges::count(fields, key, &Field::key) > 0;
}

using Values = std::map<std::string, std::string>;

Values values_of(const Settings& settings) {
  Values out;
  for (const GivenSetting& setting : settings.entries()) out[setting.key] = setting.value;
  return out;
}

// Returns a hash of all job end times of a small workload.
std::string fingerprint(const PolicySpec& policy_spec, bool stops) {
  ScenarioOptions options;
  options.variation.allows = {.preempt = stops, .move = stops};
  options.trace = "synthetic:habits";
  options.cluster = "4x8";
  options.generate_jobs = 200;
  RunOptions how = policy_spec.options;
  how.watch = {};
  std::string ends;
  for (const JobOutcome& job :
       run_prepared(load_scenario(options), policy_spec.prepared, how).outcome.jobs) {
    ends += std::to_string(job.end_us) + " ";
  }
  return sha256_hex(ends).substr(0, 16);
}

// Applies --placement only to policies with that setting.
PolicySpec make_default_spec(const std::string& policy, RunOptions options) {
  const bool own = !RuleSetRegistry::info(options.rules).policies.empty();
  if (!own && !has_field(policy, "placement")) options.placement.clear();
  return make_policy_spec(policy, options);
}

}  // namespace

PolicySpec make_policy_spec(const std::string& policy, const RunOptions& options) {
  return {parse_named_policy(policy).name, prepare(policy, options), options};
}

std::vector<PolicySpec> oracle_family(const RunOptions& base) {
  RunOptions options = base;
  options.information.reset();
  options.speeds = SpeedInformation::kExact;  // oracles see true speeds
  std::vector<PolicySpec> family;
  const std::vector<std::string>& own = RuleSetRegistry::info(base.rules).oracles;
  for (const std::string& name : own) family.push_back(make_default_spec(name, options));
  if (!RuleSetRegistry::info(base.rules).policies.empty()) return family;
  for (const std::string& name : PolicyRegistry::names()) {
    if (!is_oracle_bound(PolicyRegistry::info(name).level)) continue;
    RunOptions noisy = options;
    noisy.information = InformationLevel::kNoisyOracle;
    if (!has_field(name, "margin")) {
      family.push_back(make_default_spec(name, options));
      family.push_back(make_default_spec(name, noisy));
      family.back().name += " noisy";
      continue;
    }
    const auto add = [&](RunOptions how, const std::string& margin, const std::string& suffix) {
      how.policy.set("margin", margin, "oracle family");
      family.push_back(make_default_spec(name, how));
      family.back().name += " margin=" + margin + suffix;
    };
    for (const char* margin : kMargins) add(options, margin, "");
    for (const char* margin : kNoisyMargins) add(noisy, margin, " noisy");
  }
  return family;
}

std::vector<PolicySpec> servable_heuristics(InformationLevel most, const RunOptions& options) {
  std::vector<PolicySpec> out;
  const RuleSet::Info& rules = RuleSetRegistry::info(options.rules);
  const bool own = !rules.policies.empty();
  for (const std::string& name : own ? rules.policies : PolicyRegistry::names()) {
    const bool rival =
        own ? std::ranges::count(rules.oracles, name) == 0
            : PolicyRegistry::info(name).servable && PolicyRegistry::info(name).level <= most;
    if (rival) out.push_back(make_default_spec(name, options));
  }
  return out;
}

std::string inputs_of(const PolicySpec& policy_spec, bool stops) {
  const RunOptions& how = policy_spec.options;
  const PreparedPolicy& prepared = policy_spec.prepared;
  std::string name = prepared.digest.empty() ? prepared.policy_ref : "checkpoint";
  Values settings;
  if (is_tuned_policy_file(prepared.policy_ref)) {
    constexpr std::string_view kSettings = "settings.";
    for (const auto& [key, value] : values_of(Settings::from_yaml(prepared.policy_ref))) {
      if (key == "policy") name = value;
      if (key.starts_with(kSettings)) settings[key.substr(kSettings.size())] = value;
    }
  }
  for (const auto& [key, value] : values_of(how.policy)) settings[key] = value;
  nlohmann::ordered_json inputs = {{"version", kResultsVersion},
                                   {"policy", name},
                                   {"settings", settings},
                                   {"digest", prepared.digest},
                                   {"information", information_level_name(prepared.level)},
                                   {"placement", prepared.placement},
                                   {"rules", how.rules},
                                   {"rules_settings", values_of(how.rule_set)},
                                   {"oracle_noise", how.oracle_noise},
                                   {"seed", how.seed},
                                   {"fingerprint", fingerprint(policy_spec, true)}};
  if (how.speeds != SpeedInformation::kExact) inputs["speeds"] = speed_information_name(how.speeds);
  if (how.served) inputs["served"] = true;
  if (!stops) inputs["start_only"] = fingerprint(policy_spec, false);
  return inputs.dump();
}

}  // namespace yard
