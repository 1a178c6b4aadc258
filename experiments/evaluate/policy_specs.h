// Policies in a comparison: by name with settings, the oracle family, and the inputs which
// determine how each one decides.
#pragma once

#include <map>

#include "experiments/replay/replay.h"

namespace yard {

struct PolicySpec {
  std::string name;  // for tables
  PreparedPolicy prepared;
  RunOptions options;
  // inputs_of() as JSON, by whether preemption is allowed. Empty if no scores are kept.
  std::map<bool, std::string> inputs = {};
};

PolicySpec make_policy_spec(const std::string& policy, const RunOptions& options);

// Returns all policies that see run times under these rules, with exact and with noisy run times.
// A policy with a preemption margin appears once for each of several margins.
std::vector<PolicySpec> oracle_family(const RunOptions& options);

// Returns the heuristics that a live cluster can run, with information up to `most`.
std::vector<PolicySpec> servable_heuristics(InformationLevel most, const RunOptions& options);

// Returns, as JSON, the inputs of the policy's decisions, independent of file paths: settings,
// level, weights, rules. The outcome of a small workload is added to detect changes of the code.
// `stops`: whether preemption is allowed; if not, the workload's outcome without preemption is
// added, too.
std::string inputs_of(const PolicySpec& policy_spec, bool stops);

}  // namespace yard
