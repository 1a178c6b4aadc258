// Finds the settings that account for a rule's gain over the policy's defaults. Forward selection
// adds the changed setting whose gain together with the selected settings is largest.
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
  int screened = 16;  // settings to select from: those whose removal costs most
  std::function<void(const std::string& line)> progress;  // may be empty
};

struct ExplainedSetting {
  std::string name, value, default_value, about;  // default_value: the default; about: help text
  double gain_share = 0;  // share of the total log gain with the terms up to this one
  // Mean JCT of the selected terms without this one / with it, in all and by size class; 0 for a
  // class without jobs. A ratio above 1 means that the term helps.
  double without = 1;
  std::array<double, kSizeClasses> without_by_class{};
};

struct GainExplanation {
  std::vector<ExplainedSetting> terms;
  double whole = 1;       // rule / defaults: mean JCT, geometric mean over cells
  double formula = 1;     // selected terms / defaults: mean JCT, geometric mean over cells
  double gain_share = 0;  // ln formula / ln whole
};

// `whole`: a policy file or checkpoint with the settings `numbers` of `policy`. Throws InputError
// if all have their defaults or the rule gains nothing over them; Interrupted.
GainExplanation explain(const std::vector<TuneCell>& cells, const std::string& whole,
                        const std::string& policy, const Settings& numbers,
                        const ExplainOptions& options);

}  // namespace yard
