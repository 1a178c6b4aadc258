// Shared by text and page: candidates grouped by what a site needs to run them, and an explanation
// of the figures.
#pragma once

#include <string>
#include <vector>

#include "experiments/whatif/compare.h"

namespace yard::whatif {

struct Group {
  std::string heading;             // empty for the first group
  std::vector<size_t> candidates;  // indices into Comparison::candidates
};

// Returns the non-empty groups: the baseline and policies which only start jobs, those which
// preempt, and those which see run times.
std::vector<Group> groups_of(const Comparison& comparison);

inline constexpr const char* kHowToRead =
    "A wait is the time to a job's end less its run time: also what a preempted or suspended job "
    "waits again, saves and restores, and what it loses on GPUs slower than the fastest. Ratios "
    "are of mean waits, with 95 % intervals over blocks of time; one that contains "
    "1 leaves open which policy is better. How to read all of it: docs/whatif.md.";

}  // namespace yard::whatif
