// The rule by which a canary ends: promotion, roll-back, or more turns.
#pragma once

#include <string>

#include "experiments/stats/intervals.h"
#include "serving/log/canary_turns.h"

namespace yard {

enum class CanaryVerdict { kPromote, kRollBack, kContinue };

struct CanaryRule {
  double margin = 0;  // the candidate may have so much more jobs in the system; 0.02: 2 %
  double more_fallbacks = 0.02;  // the candidate's share of fallbacks may be so much larger
  int min_turns = 8;             // compared turns before a promotion
  int max_turns = 60;            // compared turns after which the current version stays
  // The interval is looked at after min_turns, twice as many, and so on, and after max_turns. Its
  // error is shared by these looks, so that a review after each turn costs nothing.
};

struct CanaryReview {
  CanaryVerdict verdict = CanaryVerdict::kContinue;
  std::string reason;
  // Mean number of jobs in the system, the candidate's divided by the current version's. By
  // Little's law, this is the ratio of mean JCTs if jobs arrive at the same rate.
  double ratio = 0;
  Interval interval;
  int turns = 0;  // number of turns that were compared, those of the last look
};

CanaryReview review_canary(const CanaryTurns& turns, const CanaryRule& rule);

// "promote", "roll back" or "continue".
const char* verdict_name(CanaryVerdict verdict);

}  // namespace yard
