#include "experiments/entrants.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "env/base/file.h"
#include "env/base/text.h"
#include "env/sim/speed_estimator.h"

namespace yard {
namespace {

// Increase when equal inputs_of() give other scores: after a change of a reader, the calibration,
// replicas or metrics.
constexpr int kResultsVersion = 1;

constexpr const char* kMargins[] = {"0", "0.1", "0.3", "1", "3"};
constexpr const char* kNoisyMargins[] = {"0", "0.3", "1"};

bool has_field(const std::string& policy, const std::string& key) {
  const std::vector<Field> fields = PolicyRegistry::info(policy).fields();
  return std::any_of(fields.begin(), fields.end(), [&](const Field& f) { return f.key == key; });
}

using Values = std::map<std::string, std::string>;

Values values_of(const Settings& settings) {
  Values out;
  for (const Setting& setting : settings.entries()) out[setting.key] = setting.value;
  return out;
}

// Returns a hash of all job end times of a small workload.
std::string fingerprint(const Entrant& entrant, bool stops) {
  ScenarioOptions options;
  options.variation.allows = {.preempt = stops, .move = stops};
  options.trace = "synthetic:habits";
  options.cluster = "4x8";
  options.generate_jobs = 200;
  RunOptions how = entrant.options;
  how.watch = {};
  std::string ends;
  for (const JobOutcome& job :
       run_prepared(load_scenario(options), entrant.contestant, how).outcome.jobs) {
    ends += std::to_string(job.end_us) + " ";
  }
  return sha256_hex(ends).substr(0, 16);
}

// Applies --placement only to policies with that setting.
Entrant enter_unnamed(const std::string& policy, RunOptions options) {
  const bool own = !PacingRegistry::info(options.rules).policies.empty();
  if (!own && !has_field(policy, "placement")) options.placement.clear();
  return enter(policy, options);
}

}  // namespace

Entrant enter(const std::string& policy, const RunOptions& options) {
  return {named_policy(policy).name, prepare(policy, options), options};
}

std::vector<Entrant> oracle_family(const RunOptions& base) {
  RunOptions options = base;
  options.information.reset();
  options.speeds = SpeedLevel::kTold;  // oracles see true speeds
  std::vector<Entrant> family;
  const std::vector<std::string>& own = PacingRegistry::info(base.rules).oracles;
  for (const std::string& name : own) family.push_back(enter_unnamed(name, options));
  if (!PacingRegistry::info(base.rules).policies.empty()) return family;
  for (const std::string& name : PolicyRegistry::names()) {
    if (!is_bound(PolicyRegistry::info(name).level)) continue;
    RunOptions noisy = options;
    noisy.information = Level::kNoisyOracle;
    if (!has_field(name, "margin")) {
      family.push_back(enter_unnamed(name, options));
      family.push_back(enter_unnamed(name, noisy));
      family.back().name += " noisy";
      continue;
    }
    const auto add = [&](RunOptions how, const std::string& margin, const std::string& suffix) {
      how.policy.set("margin", margin, "oracle family");
      family.push_back(enter_unnamed(name, how));
      family.back().name += " margin=" + margin + suffix;
    };
    for (const char* margin : kMargins) add(options, margin, "");
    for (const char* margin : kNoisyMargins) add(noisy, margin, " noisy");
  }
  return family;
}

std::vector<Entrant> servable_heuristics(Level most, const RunOptions& options) {
  std::vector<Entrant> out;
  const Pacing::Info& rules = PacingRegistry::info(options.rules);
  const bool own = !rules.policies.empty();
  for (const std::string& name : own ? rules.policies : PolicyRegistry::names()) {
    if (!own) {
      const Policy::Info& info = PolicyRegistry::info(name);
      if (!info.servable || info.level > most) continue;
    } else if (std::count(rules.oracles.begin(), rules.oracles.end(), name) > 0) {
      continue;
    }
    out.push_back(enter_unnamed(name, options));
  }
  return out;
}

std::string inputs_of(const Entrant& entrant, bool stops) {
  const RunOptions& how = entrant.options;
  const Contestant& who = entrant.contestant;
  std::string name = who.digest.empty() ? who.given : "checkpoint";
  Values settings;
  if (is_tuned_file(who.given)) {
    constexpr std::string_view kSettings = "settings.";
    for (const auto& [key, value] : values_of(Settings::from_yaml(who.given))) {
      if (key == "policy") name = value;
      if (key.starts_with(kSettings)) settings[key.substr(kSettings.size())] = value;
    }
  }
  for (const auto& [key, value] : values_of(how.policy)) settings[key] = value;
  nlohmann::ordered_json inputs = {{"version", kResultsVersion},
                                   {"policy", name},
                                   {"settings", settings},
                                   {"digest", who.digest},
                                   {"information", level_name(who.level)},
                                   {"placement", who.placement},
                                   {"rules", how.rules},
                                   {"rules_settings", values_of(how.pacing)},
                                   {"oracle_noise", how.oracle_noise},
                                   {"seed", how.seed},
                                   {"fingerprint", fingerprint(entrant, true)}};
  if (how.speeds != SpeedLevel::kTold) inputs["speeds"] = speed_level_name(how.speeds);
  if (!stops) inputs["start_only"] = fingerprint(entrant, false);
  return inputs.dump();
}

}  // namespace yard
