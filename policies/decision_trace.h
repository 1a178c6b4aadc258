// The options that a policy chose from, recorded with its plan for decision logs. Training from a
// log weights each choice by its probability.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "policies/policy.h"

namespace yard {

// An option for one job. Dispatcher: starts a waiting job or preempts one that holds GPUs. Pilot:
// starts a waiting job or migrates one that holds GPUs; the placement is not recorded.
struct ScoredOption {
  int32_t slot = kNone;  // kNone: do nothing more
  float logit = 0;  // score of the option, higher is better; if the policy samples, an unnormalised
                    // log probability
  std::vector<float> features =
      {};  // features in the order of TracedPolicy::feature_names(), if requested
};

// One step of a decision. The chosen option changes the state before the next step is scored.
struct DecisionStep {
  std::vector<ScoredOption> options;
  int32_t chosen = kNone;  // index into options
  double probability = 1;
};

// The successive choices that make up one decision. Empty: the decision follows from the view
// alone.
struct DecisionTrace {
  std::vector<DecisionStep> steps;
  bool with_features = false;          // whether the policy records the features of options
  std::optional<uint64_t> sample_key;  // key of the random numbers that the decision used, if any

  double probability() const {
    double product = 1;
    for (const DecisionStep& step : steps) product *= step.probability;
    return product;
  }
};

class TracedPolicy : public Policy {
 public:
  // Makes the same decision as decide() and records its choices. Requires: `choices` has no steps.
  virtual void decide_traced(const View& view, Memory& memory, Draft& draft,
                             DecisionTrace& choices) const = 0;
  // Returns the names of ScoredOption::features, in their order.
  virtual std::vector<std::string> feature_names() const = 0;
};

}  // namespace yard
