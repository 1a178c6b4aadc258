#include "experiments/programs/serve/canary_review.h"

#include <fmt/format.h>

#include <cmath>

namespace yard {
namespace {

// A share of fewer decisions says nothing.
constexpr uint64_t kMinDecisions = 50;

}  // namespace

CanaryReview review_canary(const CanaryTurns& turns, const CanaryRule& rule) {
  CanaryReview out;
  out.turns = static_cast<int>(turns.candidate_jobs.size());
  const BlockSums sums = {{turns.candidate_jobs}, turns.current_jobs};
  out.ratio = out.turns == 0 ? NAN : sums.ratio();
  out.interval = out.turns < 2 ? Interval{NAN, NAN} : ratio_interval(merge_correlated(sums));
  const auto decide = [&](CanaryVerdict verdict, std::string reason) {
    out.verdict = verdict;
    out.reason = std::move(reason);
    return out;
  };

  const double share = turns.candidate.fallback_share();
  if (turns.candidate.all >= kMinDecisions &&
      share > turns.current.fallback_share() + rule.more_fallbacks) {
    return decide(CanaryVerdict::kRollBack,
                  fmt::format("the fallback made {:.1f} % of the candidate's decisions, and {:.1f} "
                              "% of the current version's",
                              100 * share, 100 * turns.current.fallback_share()));
  }
  const std::string figure = fmt::format(
      "jobs in the system are {:.3f} [{:.3f}, {:.3f}] times those of the current "
      "version in {} turns",
      out.ratio, out.interval.lo, out.interval.hi, out.turns);
  if (out.turns < rule.min_turns) {
    return decide(CanaryVerdict::kContinue, fmt::format("{} turns can be compared, of at least {}",
                                                        out.turns, rule.min_turns));
  }
  if (out.interval.lo > 1) return decide(CanaryVerdict::kRollBack, figure);
  if (out.interval.hi < 1 + rule.margin) return decide(CanaryVerdict::kPromote, figure);
  if (out.turns >= rule.max_turns) {
    return decide(CanaryVerdict::kRollBack, figure + ": no gain was shown");
  }
  return decide(CanaryVerdict::kContinue, figure);
}

const char* verdict_name(CanaryVerdict verdict) {
  switch (verdict) {
    case CanaryVerdict::kPromote:
      return "promote";
    case CanaryVerdict::kRollBack:
      return "roll back";
    case CanaryVerdict::kContinue:
      break;
  }
  return "continue";
}

}  // namespace yard
