#include "experiments/replay.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "env/base/error.h"
#include "env/base/text.h"
#include "policies/learned/open_policy.h"

namespace yard {
namespace {

// A policy that sees no more than it is granted: an oracle with noise where it could have none.
class Granted final : public Decider {
 public:
  Granted(const Policy& policy, Level level) : decider_(policy), level_(level) {}
  Level level() const override { return level_; }
  void decide(const View& view, Draft& draft) override { decider_.decide(view, draft); }

 private:
  PolicyDecider decider_;
  Level level_;
};

bool is_tuned_file(std::string_view text) {
  return text.ends_with(".yaml") || text.ends_with(".yml");
}

Level granted(const std::string& policy, Level declared, Level least,
              const std::optional<Level>& most) {
  if (!most || declared <= *most) return declared;
  if (least <= *most) return *most;
  // Whoever can use exact run times can use inexact ones.
  if (declared == Level::kOracle && *most == Level::kNoisyOracle) return Level::kNoisyOracle;
  throw InputError("--information " + std::string(level_name(*most)),
                   "policies that need no more than that",
                   "'" + policy + "', which needs " + level_name(declared));
}

// Returns where the policy's jobs go, "" where it does not let that be chosen; gives it
// --placement, which a --set of its own overrules.
std::string choose_placement(const std::string& text, const Policy::Info& info,
                             const RunOptions& options, Settings& settings) {
  const std::vector<Field> fields = info.fields();
  const auto field = std::find_if(fields.begin(), fields.end(),
                                  [](const Field& f) { return f.key == "placement"; });
  if (field == fields.end()) {
    if (options.placement.empty()) return "";
    throw InputError("--placement", "policies that let it be chosen", "'" + text + "'");
  }
  if (const Setting* set = settings.find("placement")) return set->value;
  if (!options.placement.empty()) {
    settings.set("placement", options.placement, "--placement");
    return options.placement;
  }
  if (is_tuned_file(text)) {
    const Settings file = Settings::from_yaml(text);
    if (const Setting* set = file.find("settings.placement")) return set->value;
  }
  return field->value;
}

}  // namespace

Contestant prepare(const std::string& policy, const RunOptions& options) {
  const Pacing::Info& rules = PacingRegistry::info(options.rules);
  for (const std::string& key : rules.needs) {
    if (options.pacing.find(key) != nullptr) continue;
    throw InputError("rules '" + options.rules + "'", "--" + key + " FILE", "none");
  }
  Contestant who;
  who.name = policy;
  if (rules.policies.empty()) {
    Settings settings = options.policy;
    OpenedPolicy opened = open_policy(policy, settings);
    who.placement = choose_placement(policy, opened.info, options, settings);
    if (!options.placement.empty()) opened = open_policy(policy, settings);
    who.policy = std::move(opened.policy);
    who.servable = opened.info.servable;
    who.by_limits = opened.info.by_limits;
    who.digest = opened.digest;
    who.level =
        granted(policy, who.policy->level(), who.policy->least_level(), options.information);
    return who;
  }
  who.placement = check_play(options.rules, policy, options.placement);
  const bool oracle = std::count(rules.oracles.begin(), rules.oracles.end(), policy) > 0;
  who.level = oracle ? Level::kOracle : Level::kBlind;
  if (granted(policy, who.level, who.level, options.information) != who.level) {
    throw InputError("--information noisy-oracle", "rules 'default'", "'" + options.rules + "'");
  }
  return who;
}

namespace {

// The same jobs as so many whole GPUs of any type.
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
  Fixed fixed;
};

}  // namespace

Run run_prepared(const Scenario& scenario, const Contestant& contestant,
                 const RunOptions& options) {
  if (!contestant.policy && scenario.fixed.faults) {
    throw InputError("--faults", "rules 'default'", "'" + options.rules + "'");
  }
  if (!contestant.policy && scenario.speeds) {
    throw InputError("--profiles", "rules 'default'", "'" + options.rules + "'");
  }
  if (!contestant.policy && scenario.apart) {
    const auto staged = std::ranges::find_if(scenario.trace.jobs, is_staged);
    throw InputError("rules '" + options.rules + "'", "jobs of one stage",
                     "groups that come after each other in job '" + staged->id + "'");
  }
  // Published simulators know of a job how many GPUs it takes, no more.
  std::optional<PlainScenario> plain;
  const JobColumns& jobs = scenario.fixed.jobs;
  const bool told_more =
      jobs.shapes.num_shapes > 0 || jobs.first_after != nullptr || jobs.model_row != nullptr;
  if (!contestant.policy && told_more) plain.emplace(scenario);
  std::optional<Granted> decider;
  if (contestant.policy) decider.emplace(*contestant.policy, contestant.level);
  const Fixed& fixed = plain ? plain->fixed : scenario.fixed;
  std::function<void(const ClusterState&)> watch;
  if (options.watch) watch = [&](const ClusterState& state) { options.watch(fixed, state); };
  const Replay replay{.fixed = fixed,
                      .workload = plain ? plain->workload : scenario.workload,
                      .first_job = 0,
                      .end_job = scenario.workload.size(),
                      .policy = contestant.name,
                      .placement = contestant.placement,
                      .settings = options.policy,
                      .decider = decider ? &*decider : nullptr,
                      .oracle_noise = options.oracle_noise,
                      .seed = options.seed,
                      .trace = &scenario.played(),
                      .cluster = &scenario.cluster,
                      .watch = watch};
  Run run;
  run.policy = contestant.name;
  run.rules = options.rules;
  run.placement = contestant.placement;
  run.level = contestant.level;
  const auto pacing = PacingRegistry::make(options.rules, options.pacing);
  const auto begin = std::chrono::steady_clock::now();
  run.outcome = scenario.of_jobs(pacing->replay(replay));
  if (run.outcome.end_us > scenario.drawn_until_us) {
    throw RunError(contestant.name + ": drawn failures end at " +
                   format_seconds(scenario.drawn_until_us) + " s, the replay at " +
                   format_seconds(run.outcome.end_us) +
                   " s; --set faults.until_h=N draws them for longer");
  }
  run.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  run.summary = summarise(scenario.trace, scenario.fixed, scenario.alone_us, run.outcome);
  return run;
}

bool lacks_limits(const Contestant& contestant, const Trace& trace) {
  return contestant.by_limits &&
         std::ranges::none_of(trace.jobs, [](const Job& job) { return job.limit_us >= 0; });
}

Run run_policy(const Scenario& scenario, const std::string& policy, const RunOptions& options) {
  return run_prepared(scenario, prepare(policy, options), options);
}

}  // namespace yard
