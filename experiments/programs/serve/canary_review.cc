#include "experiments/programs/serve/canary_review.h"

#include <fmt/format.h>

#include <cmath>
#include <vector>

namespace yard {
namespace {

// A share of fewer decisions says nothing.
constexpr uint64_t kMinDecisions = 50;
// Independent blocks that an interval needs to be trusted.
constexpr int kMinBlocks = 6;

// The numbers of turns after which the interval is looked at, in order.
std::vector<int> looks_of(const CanaryRule& rule) {
  std::vector<int> out;
  for (int turns = rule.min_turns; turns < rule.max_turns; turns *= 2) out.push_back(turns);
  out.push_back(rule.max_turns);
  return out;
}

}  // namespace

CanaryReview review_canary(const CanaryTurns& turns, const CanaryRule& rule) {
  CanaryReview out;
  const std::vector<int> looks = looks_of(rule);
  const auto all = static_cast<int>(turns.candidate_jobs.size());
  for (const int look : looks) {
    if (look <= all) out.turns = look;
  }
  // Before the first look, the ratio of all turns is only shown.
  const auto used = static_cast<size_t>(out.turns == 0 ? all : out.turns);
  BlockSums sums = {{turns.candidate_jobs}, turns.current_jobs};
  sums.ours[0].resize(used);
  sums.theirs.resize(used);
  out.ratio = used == 0 ? NAN : sums.ratio();
  if (used > 1) sums = merge_correlated(std::move(sums));
  const double error = (1 - kConfidence) / static_cast<double>(looks.size());
  const bool enough = sums.blocks() >= kMinBlocks;
  out.interval = enough ? ratio_interval(sums, 1 - error) : Interval{NAN, NAN};
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
  if (out.turns == 0) {
    return decide(CanaryVerdict::kContinue,
                  fmt::format("{} turns can be compared, of at least {}", all, rule.min_turns));
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
