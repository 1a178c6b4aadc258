// The rule by which a canary ends: promotion, roll-back, or more turns.
#pragma once

#include <string>

#include "experiments/stats/intervals.h"
#include "serving/log/canary_turns.h"

namespace yard {

enum class CanaryVerdict { kPromote, kRollBack, kContinue };

struct CanaryRule {
  double margin = 0;  // a promoted candidate may have up to this share more jobs in the system
  double more_fallbacks = 0.02;  // the candidate's share of fallbacks may be larger by this much
  int min_turns = 8;             // compared turns before a promotion
  int max_turns = 60;            // compared turns after which an undecided canary is rolled back
  // The confidence interval is tested after min_turns, 2 min_turns, 4 min_turns and so on, and
  // after max_turns. The error probability is divided among these tests, so that more frequent
  // reviews do not make an error likelier.
};

struct CanaryReview {
  CanaryVerdict verdict = CanaryVerdict::kContinue;
  std::string reason;
  // Mean number of jobs in the system, the candidate's divided by the current version's. By
  // Little's law, this is the ratio of mean JCTs if jobs arrive at the same rate.
  double ratio = 0;
  Interval interval;
  int turns = 0;  // number of turns at the last test of the interval; 0: not yet tested
};

CanaryReview review_canary(const CanaryTurns& turns, const CanaryRule& rule);

// "promote", "roll back" or "continue".
const char* verdict_name(CanaryVerdict verdict);

}  // namespace yard
