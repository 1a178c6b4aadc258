// Finds which settings account for the gain of a tuned policy over the policy's defaults. Forward
// selection adds the changed setting whose gain together with the selected settings is largest.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "experiments/evaluate/score_policies.h"
#include "experiments/search/candidate_evaluator.h"

namespace yard {

struct ExplainOptions {
  int terms = 10;
  int screened = 16;  // settings to select from: those whose removal raises the JCT most
  std::function<void(const std::string& line)> progress;  // may be empty
};

struct ExplainedSetting {
  std::string name, value, default_value, about;  // about: help text
  double gain_share = 0;  // share of the total log gain reached with this term
  // Mean JCT under all selected terms but this term / under all selected terms, in total and by
  // size class; 0 for a class without jobs. A value above 1 means that the term helps.
  double without = 1;
  std::array<double, kSizeClasses> without_by_class{};
};

struct GainExplanation {
  std::vector<ExplainedSetting> terms;
  double whole = 1;       // mean JCT of the tuned policy / of the defaults
  double formula = 1;     // mean JCT of the selected terms / of the defaults
  double gain_share = 0;  // share of the gain: ln formula / ln whole
};

// Explains the gain of `tuned_policy`, a policy file or checkpoint with `tuned_settings` of
// `policy`. Throws InputError if all settings are defaults or `tuned_policy` gains nothing,
// and Interrupted on SIGINT or SIGTERM.
GainExplanation explain_gain(const std::vector<TuneCell>& cells, const std::string& tuned_policy,
                             const std::string& policy, const Settings& tuned_settings,
                             const ExplainOptions& options);

}  // namespace yard
