// Replays one scenario under one policy, rule set and level of information.
#pragma once

#include "env/sim/metrics/metrics.h"
#include "experiments/scenario/scenario.h"
#include "policies/policy.h"

namespace yard {

struct RunOptions {
  std::string rules = "default";
  std::string placement;                        // empty: the default of the policy or rule set
  std::optional<InformationLevel> information;  // maximum; empty: the level the policy declares
  double oracle_noise = 0.25;                   // standard deviation of a noisy oracle's log error
  SpeedInformation speeds = SpeedInformation::kExact;  // what policies know of speeds
  uint64_t seed = 1;
  bool served = false;  // whether to run the policy as a server would (served.h)
  Settings policy;      // settings of the policy
  Settings rule_set;    // settings of the rule set
  // Callback after every decision. Under published rules, SimModel may be a reduced copy of the
  // scenario's SimModel.
  std::function<void(const SimModel&, const SimState&)> watch;
};

struct Run {
  std::string policy;
  std::string rules;
  std::string placement;  // empty: the policy offers no choice of placement
  InformationLevel level = InformationLevel::kBlind;
  SpeedInformation speeds = SpeedInformation::kExact;
  Outcome outcome;
  Summary summary;
  double wall_s = 0, core_s = 0;  // seconds of the replay without loading
};

// A policy as named on a command line: "las", a tuned policy's file or "checkpoint:DIR", optionally
// with a name for tables: "ours=checkpoint:DIR".
struct NamedPolicy {
  std::string name;    // for tables
  std::string policy;  // registered name, file or checkpoint
};
// Splits "NAME=POLICY". If `text` has no "NAME=", name and policy are `text`. Throws InputError.
NamedPolicy parse_named_policy(const std::string& text);

// Returns whether a policy's name is the path of a tuned policy's YAML file.
bool is_tuned_policy_file(std::string_view name);

// Returns whether a policy of this level sees run times, so that it is a bound and not a rival.
inline bool is_oracle_bound(InformationLevel level) {
  return level >= InformationLevel::kNoisyOracle;
}

// A policy with its settings, checked against the rules. `policy` is null if the rule set has its
// own schedulers.
struct PreparedPolicy {
  std::string name;        // for tables
  std::string policy_ref;  // registered name, file or checkpoint:DIR
  std::string placement;   // placement rule, as in Run
  InformationLevel level = InformationLevel::kBlind;
  std::unique_ptr<Policy> policy;
  bool servable = false;
  bool uses_limits = false;   // uses the time limits which users set
  bool resizes_jobs = false;  // decides the GPU counts of elastic jobs
  bool preempts = false;      // preempts jobs if the cluster allows preemption
  std::string order;          // value of the setting `order`, if any: "arrival"
  std::string digest;         // digest of the checkpoint, if any
  double core_s = 0;          // core-seconds of training; 0: unknown
  std::string untrained;      // path of the network before training, if any
};

// Prepares the policy `text`, "POLICY" or "NAME=POLICY". Throws InputError for an unknown policy,
// placement, rule set or setting, or a policy which needs a higher level than options.information.
PreparedPolicy prepare(const std::string& text, const RunOptions& options);

// Replays the scenario. Requires: `prepared` comes from prepare() with the same options. Throws
// InputError if the rule set cannot run the scenario, RunError if faults keep jobs from ending.
Run run_prepared(const Scenario& scenario, const PreparedPolicy& prepared,
                 const RunOptions& options);

// Returns whether any job has a time limit set by its user.
bool has_time_limits(const Trace& trace);
// Returns notes on policies that use time limits, for a trace without limits: one note for each
// kind of such policies. Without limits, a policy that backfills by limits equals `fifo`, and a
// policy at level `estimate` uses estimated run times.
std::vector<std::string> missing_time_limits_notes(
    const std::vector<const PreparedPolicy*>& prepared_policies);
// Returns whether the policy decides the sizes of elastic jobs and the trace has no elastic job.
bool lacks_elastic_jobs_to_resize(const PreparedPolicy& prepared, const Trace& trace);

Run run_policy(const Scenario& scenario, const std::string& policy, const RunOptions& options);

}  // namespace yard
