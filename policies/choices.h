// What a policy chose from, told beside its plan, for logs: learning from a log weighs what was
// done by how probable it was.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "policies/policy.h"

namespace yard {

// What could be done with one job. Of the dispatcher: a waiting job would start, one that holds
// GPUs would stop. Of the pilot: a waiting job would start, one that holds GPUs would move; which
// place an offer means is not told.
struct Offer {
  int32_t slot = kNone;  // kNone: nothing more
  float logit = 0;       // higher is better; of a policy that draws, unnormalised log probability
};

// A decision is made step by step, each acting on the state before the next is looked at.
struct Choice {
  std::vector<Offer> offers;
  int32_t chosen = kNone;  // which of the offers
  double probability = 1;
};

// Empty: the decision follows from the view alone.
struct Choices {
  std::vector<Choice> steps;
  std::optional<uint64_t> draw_key;  // of the random numbers that it drew from

  double probability() const {
    double product = 1;
    for (const Choice& step : steps) product *= step.probability;
    return product;
  }
};

class TellingPolicy : public Policy {
 public:
  // The same decision as decide(), with what it was chosen from. Requires: `choices` is empty.
  virtual void decide_and_tell(const View& view, Memory& memory, Draft& draft,
                               Choices& choices) const = 0;
};

}  // namespace yard
