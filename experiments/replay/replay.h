// Replays one scenario under one policy, rule set and level of information.
#pragma once

#include "env/sim/metrics/metrics.h"
#include "experiments/scenario/scenario.h"
#include "policies/policy.h"

namespace yard {

struct RunOptions {
  std::string rules = "default";
  std::string placement;  // placement rule; empty: the policy's own, or the rule set's first
  std::optional<Level>
      information;             // maximum level of information; empty: the policy's declared level
  double oracle_noise = 0.25;  // standard deviation of the log error of a noisy oracle
  SpeedInformation speeds = SpeedInformation::kExact;  // what policies may see of job speeds
  uint64_t seed = 1;
  bool served = false;  // whether the policy is played as a server would play it (served.h)
  Settings policy;      // settings of the policy
  Settings rule_set;    // settings of the rule set
  // Called after every decision. Under published rules, SimModel may be a reduced copy of the
  // scenario's.
  std::function<void(const SimModel&, const SimState&)> watch;
};

struct Run {
  std::string policy;
  std::string rules;
  std::string placement;  // empty: the policy has no choice of placement
  Level level = Level::kBlind;
  SpeedInformation speeds = SpeedInformation::kExact;
  Outcome outcome;
  Summary summary;
  double wall_s = 0, core_s = 0;  // seconds that the replay alone took: wall-clock time, core time
};

// A policy as named on a command line: "las", a tuned policy's file or "checkpoint:DIR", optionally
// with a name for tables: "ours=checkpoint:DIR".
struct NamedPolicy {
  std::string name;    // for tables
  std::string policy;  // registered name, file or checkpoint
};
// Splits "NAME=POLICY"; without "NAME=" both are `text`. Throws InputError for an empty POLICY.
NamedPolicy named_policy(const std::string& text);

// Returns whether a policy's name is the file of a tuned policy.
bool is_tuned_policy_file(std::string_view name);

// Returns whether a policy of this level is a bound instead of a rival.
inline bool is_oracle_bound(Level level) { return level >= Level::kNoisyOracle; }

// A policy checked against the rules, with its settings. `policy` is null under rule sets with
// their own schedulers.
struct PreparedPolicy {
  std::string name;        // for tables
  std::string policy_ref;  // registered name, file or checkpoint:DIR
  std::string placement;   // as in Run
  Level level = Level::kBlind;
  std::unique_ptr<Policy> policy;
  bool servable = false;
  bool uses_limits = false;   // uses the limits which users set
  bool resizes_jobs = false;  // decides the sizes of elastic jobs
  bool preempts = false;      // may preempt, if the cluster allows it
  std::string order;          // queue order, if it is a setting: "arrival"
  std::string digest;         // of a checkpoint
  double core_s = 0;          // training cost in core-seconds; 0: unknown
  std::string untrained;      // of a checkpoint: text that opens its network before training
};

// `text`: as for named_policy(). An oracle may be limited to noisy run times. Throws InputError for
// an unknown policy, placement, rule set or key, or a policy which needs a higher level.
PreparedPolicy prepare(const std::string& text, const RunOptions& options);

// Requires: `prepared` comes from prepare() with the same options. Throws InputError for a
// scenario beyond the rule set, RunError if failures keep jobs from ending.
Run run_prepared(const Scenario& scenario, const PreparedPolicy& prepared,
                 const RunOptions& options);

// Returns whether any job has a user limit.
bool has_time_limits(const Trace& trace);
// Returns notes on the effect of a trace without limits: one note for each kind of policy which
// uses limits. A policy that only backfills by limits then equals `fifo`. A policy at level
// `estimate` uses estimated run times instead.
std::vector<std::string> missing_time_limits_notes(
    const std::vector<const PreparedPolicy*>& prepared_policies);
// Returns whether the policy decides job sizes while every job of the trace has a single size.
bool has_no_elastic_jobs(const PreparedPolicy& prepared, const Trace& trace);

Run run_policy(const Scenario& scenario, const std::string& policy, const RunOptions& options);

}  // namespace yard
