// One policy through one scenario: who decides, under which rules, knowing how much.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "env/sim/metrics.h"
#include "experiments/scenario.h"
#include "policies/policy.h"

namespace yard {

struct RunOptions {
  std::string rules = "default";
  std::string placement;                  // empty: the policy's, or the rule set's first
  std::optional<Level> information;       // the most that a policy may see; empty: what it declares
  double oracle_noise = 0.25;             // sd of the log error of a noisy oracle
  SpeedLevel speeds = SpeedLevel::kTold;  // what policies may know of how fast jobs run
  uint64_t seed = 1;
  Settings policy;  // of the policy
  Settings pacing;  // of the rules
  // After every decision. What is fixed is not the scenario's where rules see plain jobs alone.
  std::function<void(const Fixed&, const ClusterState&)> watch;
};

struct Run {
  std::string policy;
  std::string rules;
  std::string placement;  // empty: the policy has no choice of placements
  Level level = Level::kBlind;
  SpeedLevel speeds = SpeedLevel::kTold;
  Outcome outcome;
  Summary summary;
  double wall_s = 0, core_s = 0;  // of the replay alone
};

// A policy as a command line names it: "las", a tuned policy's file, "checkpoint:DIR", or one of
// these with a name of one's own for tables: "ours=checkpoint:DIR".
struct NamedPolicy {
  std::string name;    // for tables
  std::string policy;  // that plays
};
// A text without "NAME=" is both. Throws InputError where nothing follows "NAME=".
NamedPolicy named_policy(const std::string& text);

// Whether a policy's name is the file of a tuned one.
bool is_tuned_file(std::string_view name);

// Whether a policy of this level is a bound, not a competitor.
inline bool is_bound(Level level) { return level >= Level::kNoisyOracle; }

// A policy ready to run: checked against the rules, with its settings. `policy` is empty under
// rules that bring their own schedulers.
struct Contestant {
  std::string name;       // for tables
  std::string given;      // registered name, file or checkpoint:DIR; else as `name`
  std::string placement;  // as in Run
  Level level = Level::kBlind;
  std::unique_ptr<Policy> policy;
  bool servable = false;
  bool by_limits = false;  // it goes by the limits that users set
  bool by_sizes = false;   // what it decides is how large elastic jobs are
  bool preempts = false;   // it may stop running jobs, where the cluster lets it
  std::string order;       // of its queue, where the policy lets it be chosen: "arrival"
  std::string digest;      // of a checkpoint
  double core_s = 0;       // that its training took; 0: not known
  std::string untrained;   // of a checkpoint: the policy that it was before its training
};

// `text`: as for named_policy(). Throws InputError: unknown policy, placement, rules or key; more
// information than allowed. An oracle that may see only noisy run times sees those.
Contestant prepare(const std::string& text, const RunOptions& options);

// Requires: `contestant` comes from prepare() with the same options.
Run run_prepared(const Scenario& scenario, const Contestant& contestant, const RunOptions& options);

// Whether any job has a limit that its user set.
bool has_limits(const Trace& trace);
// What it means for contestants that no job has one: a sentence for each kind, none for those that
// need no limits. Rules that start jobs in order of arrival and let others go ahead by limits alone
// are `fifo` then; orders by limits or else estimates go by estimates.
std::vector<std::string> limits_notes(const std::vector<const Contestant*>& contestants);
// Whether it decides how large jobs are, and all of the trace's have one size.
bool lacks_sizes(const Contestant& contestant, const Trace& trace);

Run run_policy(const Scenario& scenario, const std::string& policy, const RunOptions& options);

}  // namespace yard
