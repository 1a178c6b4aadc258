// Groups of candidates by what a site needs to run a policy, and an explanation of the figures, for
// the text and the page of a comparison.
#pragma once

#include <string>
#include <vector>

#include "experiments/whatif/compare.h"

namespace yard::whatif {

struct RequirementGroup {
  std::string heading;             // heading; empty for the first group
  std::vector<size_t> candidates;  // indices into Comparison::candidates
};

// Returns the non-empty groups: the baseline and policies which only start jobs, policies which
// preempt, and policies which see run times.
std::vector<RequirementGroup> group_candidates_by_requirement(const Comparison& comparison);

inline constexpr const char* kHowToRead =
    "Wait is job completion time minus run time. It includes waits after preemption or suspension, "
    "saving and restoring, and time lost on GPUs slower than the fastest. Ratios compare mean "
    "waits and have 95 % intervals over blocks of time. If an interval contains 1, the difference "
    "is not significant. Details: docs/guides/what-if.md.";

}  // namespace yard::whatif
