#include "experiments/whatif/groups.h"

#include <utility>

namespace yard::whatif {

std::vector<RequirementGroup> group_candidates_by_requirement(const Comparison& comparison) {
  // No such policy is a bound by itself: with multi-GPU jobs, shortest-first is not optimal.
  RequirementGroup starts,
      preempts{"policies that preempt jobs and therefore need checkpointing", {}},
      oracles{"oracles, which see true run times (for comparison only)", {}};
  if (!comparison.no_bound.empty()) {
    oracles.heading += "; not bounds because of " + comparison.no_bound;
  }
  for (size_t c = 0; c < comparison.candidates.size(); ++c) {
    const Candidate& policy = comparison.candidates[c];
    RequirementGroup& group = c == 0                       ? starts
                              : policy.knows_run_times     ? oracles
                              : policy.needs_checkpointing ? preempts
                                                           : starts;
    group.candidates.push_back(c);
  }
  std::vector<RequirementGroup> out;
  for (RequirementGroup* group : {&starts, &preempts, &oracles}) {
    if (!group->candidates.empty()) out.push_back(std::move(*group));
  }
  return out;
}

}  // namespace yard::whatif
