#include "experiments/whatif/groups.h"

#include <utility>

namespace yard::whatif {

std::vector<Group> groups_of(const Comparison& comparison) {
  // No such policy is a bound by itself: with multi-GPU jobs, shortest-first is not optimal.
  Group starts, preempts{"need checkpointing, since they stop running jobs", {}},
      oracles{"know run times, which no scheduler does (compare, do not compete)", {}};
  if (!comparison.no_bound.empty()) {
    oracles.heading += "; what they reach bounds nothing here: " + comparison.no_bound;
  }
  for (size_t c = 0; c < comparison.candidates.size(); ++c) {
    const Candidate& policy = comparison.candidates[c];
    Group& group = c == 0                       ? starts
                   : policy.knows_run_times     ? oracles
                   : policy.needs_checkpointing ? preempts
                                                : starts;
    group.candidates.push_back(c);
  }
  std::vector<Group> out;
  for (Group* group : {&starts, &preempts, &oracles}) {
    if (!group->candidates.empty()) out.push_back(std::move(*group));
  }
  return out;
}

}  // namespace yard::whatif
