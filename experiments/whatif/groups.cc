#include "experiments/whatif/groups.h"

#include <utility>

namespace yard::whatif {

std::vector<CandidateGroup> candidate_groups_of(const Comparison& comparison) {
  // No such policy is a bound by itself: with multi-GPU jobs, shortest-first is not optimal.
  CandidateGroup starts,
      preempts{"policies that preempt jobs and therefore need checkpointing", {}},
      oracles{"oracles, which see true run times (for comparison only)", {}};
  if (!comparison.no_bound.empty()) {
    oracles.heading += "; not bounds because of " + comparison.no_bound;
  }
  for (size_t c = 0; c < comparison.candidates.size(); ++c) {
    const Candidate& policy = comparison.candidates[c];
    CandidateGroup& group = c == 0                       ? starts
                            : policy.knows_run_times     ? oracles
                            : policy.needs_checkpointing ? preempts
                                                         : starts;
    group.candidates.push_back(c);
  }
  std::vector<CandidateGroup> out;
  for (CandidateGroup* group : {&starts, &preempts, &oracles}) {
    if (!group->candidates.empty()) out.push_back(std::move(*group));
  }
  return out;
}

}  // namespace yard::whatif
