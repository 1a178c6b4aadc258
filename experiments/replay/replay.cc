#include "experiments/replay/replay.h"

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "env/base/core/error.h"
#include "env/base/os/cpu_time.h"
#include "env/base/text/text.h"
#include "env/sim/rulesets/speed_estimator.h"
#include "experiments/replay/served.h"
#include "policies/learned/open_policy.h"

namespace yard {
namespace {

// A policy at a lower level of information, such as an oracle with noisy run times.
class LevelLimitedDecider final : public Decider {
 public:
  LevelLimitedDecider(const Policy& policy, InformationLevel level)
      : decider_(policy), level_(level) {}
  InformationLevel level() const override { return level_; }
  void decide(const View& view, Draft& draft) override { decider_.decide(view, draft); }

 private:
  PolicyDecider decider_;
  InformationLevel level_;
};

InformationLevel granted_level(const std::string& policy, InformationLevel declared,
                               InformationLevel least,
                               const std::optional<InformationLevel>& most) {
  if (!most || declared <= *most) return declared;
  if (least <= *most) return *most;
  // An oracle for exact run times also accepts noisy ones.
  if (declared == InformationLevel::kOracle && *most == InformationLevel::kNoisyOracle)
    return InformationLevel::kNoisyOracle;
  throw InputError("--information " + std::string(information_level_name(*most)),
                   "a policy that needs no more information",
                   "'" + policy + "', which needs " + information_level_name(declared));
}

// Returns the setting's value in effect; nothing if the policy has no such setting.
std::optional<std::string> setting_of(const std::string& text, const Policy::Info& info,
                                      const Settings& settings, const std::string& key) {
  const std::vector<Field> fields = info.fields();
  const auto field = std::ranges::find(fields, key, &Field::key);
  if (field == fields.end()) return std::nullopt;
  if (const GivenSetting* set = settings.find(key)) return set->value;
  if (is_tuned_policy_file(text)) {
    const Settings file = Settings::from_yaml(text);
    if (const GivenSetting* set = file.find("settings." + key)) return set->value;
  }
  return field->value;
}

// Applies --placement unless --set gives one. Returns the placement in effect; "" if the policy has
// no such setting.
std::string choose_placement(const std::string& text, const Policy::Info& info,
                             const std::string& placement, Settings& settings) {
  const std::optional<std::string> preset = setting_of(text, info, settings, "placement");
  if (placement.empty()) return preset.value_or("");
  if (!preset)
    throw InputError("--placement", "a policy with a placement setting", "'" + text + "'");
  if (settings.find("placement") != nullptr) return *preset;
  settings.set("placement", placement, "--placement");
  return placement;
}

// The same jobs as plain requests for whole GPUs of any type.
struct PlainScenario {
  explicit PlainScenario(const Scenario& scenario)
      : trace(scenario.trace), workload(stripped(trace), scenario.cluster), fixed(scenario.fixed) {
    fixed.jobs = workload.jobs().columns();
  }

  static const Trace& stripped(Trace& trace) {
    for (Job& job : trace.jobs) {
      job.groups.clear();
      job.gpu_types.clear();
      job.after.clear();
      job.model.clear();
    }
    return trace;
  }

  Trace trace;
  Workload workload;
  SimModel fixed;
};

// Replays until faults are drawn for the whole replay, whose length is not known in advance.
template <class Play>
Outcome replay_with_faults(const Scenario& scenario, const std::string& policy, const Play& play,
                           std::vector<Fault>& longer) {
  constexpr size_t kMaxFaults = 20'000'000;  // 800 MB
  const int64_t first_us = scenario.simulated_trace().jobs.front().submit_us;
  int64_t span_us = scenario.drawn_until_us - first_us;
  for (;;) {
    Outcome outcome = play(false);
    if (outcome.end_us - first_us <= span_us) return outcome;
    span_us = std::max(2 * span_us, outcome.end_us - first_us);
    longer = scenario.faults_and_repairs_until(first_us + span_us);
    if (longer.size() > kMaxFaults) {
      throw RunError(policy + ": jobs do not end because of faults, " +
                     std::to_string(longer.size()) + " until " +
                     format_seconds(first_us + span_us) +
                     " s; limit them with --set faults.until_h=N");
    }
  }
}

}  // namespace

bool is_tuned_policy_file(std::string_view name) {
  return name.ends_with(".yaml") || name.ends_with(".yml");
}

NamedPolicy parse_named_policy(const std::string& text) {
  const size_t equals = text.find('=');
  // A path may contain '='.
  const bool named = equals != std::string::npos && equals > 0 &&
                     text.find_first_of("/:") > equals && !std::filesystem::exists(text);
  if (!named) return {text, text};
  NamedPolicy out{text.substr(0, equals), text.substr(equals + 1)};
  if (out.policy.empty()) throw InputError("policy '" + text + "'", "a policy after '='", "none");
  return out;
}

PreparedPolicy prepare(const std::string& text, const RunOptions& options) {
  const auto [name, policy] = parse_named_policy(text);
  const RuleSet::Info& rules = RuleSetRegistry::info(options.rules);
  for (const std::string& key : rules.needs) {
    if (options.rule_set.find(key) != nullptr) continue;
    throw InputError("rules '" + options.rules + "'", "--" + key + " FILE", "none");
  }
  PreparedPolicy prepared;
  prepared.name = name;
  prepared.policy_ref = policy;
  if (!rules.policies.empty() && options.speeds != SpeedInformation::kExact) {
    throw InputError(std::string("--speeds ") + speed_information_name(options.speeds),
                     "rules 'default' (published rule sets have no model speeds)",
                     "'" + options.rules + "'");
  }
  if (rules.policies.empty()) {
    Settings settings = options.policy;
    OpenedPolicy opened = open_policy(policy, settings);
    prepared.placement = choose_placement(policy, opened.info, options.placement, settings);
    if (!options.placement.empty()) opened = open_policy(policy, settings);
    prepared.policy = std::move(opened.policy);
    prepared.servable = opened.info.servable;
    prepared.uses_limits = opened.info.uses_limits;
    prepared.resizes_jobs = opened.info.resizes_jobs;
    const auto setting = [&](const char* key) {
      return setting_of(policy, opened.info, settings, key).value_or("");
    };
    prepared.preempts = opened.info.preemptive && setting("preempt") != "false";
    prepared.order = setting("order");
    prepared.digest = opened.digest;
    prepared.core_s = opened.core_s;
    prepared.untrained = opened.untrained;
    prepared.level = granted_level(policy, prepared.policy->level(),
                                   prepared.policy->min_information_level(), options.information);
    return prepared;
  }
  prepared.placement = placement_or_default(options.rules, policy, options.placement);
  prepared.level = std::ranges::count(rules.oracles, policy) > 0 ? InformationLevel::kOracle
                                                                 : InformationLevel::kBlind;
  if (granted_level(policy, prepared.level, prepared.level, options.information) !=
      prepared.level) {
    throw InputError("--information noisy-oracle", "rules 'default'", "'" + options.rules + "'");
  }
  return prepared;
}

Run run_prepared(const Scenario& scenario, const PreparedPolicy& prepared,
                 const RunOptions& options) {
  const char* beyond = scenario.fixed.faults ? "--faults"
                       : scenario.speeds     ? "--profiles or models of the cluster"
                       : scenario.fixed.allows != AllowedActions{} ? "--allow"
                                                                   : nullptr;
  if (!prepared.policy && beyond != nullptr) {
    throw InputError(beyond, "rules 'default'", "'" + options.rules + "'");
  }
  if (options.served &&
      (!prepared.policy || !prepared.servable || served_decider_maker() == nullptr)) {
    throw InputError("--served", "a policy that a server can run, under the rules 'default'",
                     "'" + prepared.name + "'");
  }
  if (options.served && prepared.level != prepared.policy->level()) {
    throw InputError("--served", "the policy's own level of information, which a server grants",
                     "--information " + std::string(information_level_name(prepared.level)));
  }
  if (!prepared.policy && scenario.stage_jobs) {
    const auto staged = std::ranges::find_if(scenario.trace.jobs, has_several_stages);
    throw InputError("rules '" + options.rules + "'", "jobs of one stage",
                     "several stages in job '" + staged->id + "'");
  }
  // Published simulators model a job as a number of GPUs and a run time.
  std::optional<PlainScenario> plain;
  const JobColumns& jobs = scenario.fixed.jobs;
  const bool has_details =
      jobs.shapes.num_shapes > 0 || jobs.first_after != nullptr || jobs.model_row != nullptr;
  if (!prepared.policy && has_details) plain.emplace(scenario);
  const SimModel& fixed = plain ? plain->fixed : scenario.fixed;
  std::vector<Fault> longer;
  const auto rule_set = RuleSetRegistry::make(options.rules, options.rule_set);
  // Oracles are bounds: they also see the true speeds.
  const SpeedInformation speeds =
      is_oracle_bound(prepared.level) ? SpeedInformation::kExact : options.speeds;
  const auto play = [&](bool watched) {
    std::unique_ptr<Decider> decider;
    if (options.served) {
      decider = served_decider_maker()(*prepared.policy, scenario);
    } else if (prepared.policy) {
      decider = std::make_unique<LevelLimitedDecider>(*prepared.policy, prepared.level);
    }
    std::function<void(const SimState&)> watch;
    if (watched) watch = [&](const SimState& state) { options.watch(fixed, state); };
    return rule_set->replay({.fixed = fixed,
                             .workload = plain ? plain->workload : scenario.workload,
                             .first_job = 0,
                             .end_job = scenario.workload.size(),
                             .policy = prepared.policy_ref,
                             .placement = prepared.placement,
                             .settings = options.policy,
                             .decider = decider.get(),
                             .oracle_noise = options.oracle_noise,
                             .speeds = speeds,
                             .seed = options.seed,
                             .trace = &scenario.simulated_trace(),
                             .cluster = &scenario.cluster,
                             .faults = longer.empty() ? nullptr : &longer,
                             .watch = watch});
  };
  Run run;
  run.policy = prepared.name;
  run.rules = options.rules;
  run.placement = prepared.placement;
  run.level = prepared.level;
  run.speeds = speeds;
  const auto begin = std::chrono::steady_clock::now();
  const double worked_s = thread_cpu_s();
  Outcome outcome;
  const bool watched = static_cast<bool>(options.watch), draws = scenario.drawn_until_us != kNever;
  if (draws) outcome = replay_with_faults(scenario, prepared.name, play, longer);
  if (!draws || watched) outcome = play(watched);  // earlier calls may have ended too early
  run.outcome = scenario.merge_stages(std::move(outcome));
  run.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  run.core_s = thread_cpu_s() - worked_s;
  run.summary = summarise(scenario.trace, scenario.fixed, scenario.isolated_us, run.outcome);
  return run;
}

bool has_time_limits(const Trace& trace) {
  return std::ranges::any_of(trace.jobs, [](const Job& job) { return job.limit_us >= 0; });
}

std::vector<std::string> missing_time_limits_notes(
    const std::vector<const PreparedPolicy*>& prepared_policies) {
  std::vector<std::string> strict, estimating, others;
  for (const PreparedPolicy* prepared : prepared_policies) {
    if (prepared->uses_limits) {
      const bool is_fifo =
          prepared->order == "arrival" && !prepared->preempts && !prepared->resizes_jobs;
      (is_fifo ? strict : others).push_back(prepared->name);
    } else if (prepared->level == InformationLevel::kEstimate) {
      estimating.push_back(prepared->name);
    }
  }
  std::vector<std::string> out;
  const auto note = [&](const std::vector<std::string>& names, const char* ending) {
    if (names.empty()) return;
    const bool one = names.size() == 1;
    out.push_back(join(names) + (one ? " uses" : " use") +
                  " the limits of jobs, but no job of this trace has one" + ending);
  };
  note(strict, ": results equal those of fifo");
  note(estimating, ": run times are estimated from jobs that ended before");
  note(others, "");
  return out;
}

bool lacks_elastic_jobs_to_resize(const PreparedPolicy& prepared, const Trace& trace) {
  return prepared.resizes_jobs && std::ranges::none_of(trace.jobs, is_elastic);
}

Run run_policy(const Scenario& scenario, const std::string& policy, const RunOptions& options) {
  return run_prepared(scenario, prepare(policy, options), options);
}

}  // namespace yard
