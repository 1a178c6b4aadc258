// What text, JSON and page have in common: candidates set apart by what a site needs to run them,
// and how to read the figures.
#pragma once

#include <string>
#include <vector>

#include "experiments/whatif/compare.h"

namespace yard::whatif {

struct Group {
  std::string heading;             // empty of the first
  std::vector<size_t> candidates;  // of Comparison::candidates
};

// The baseline and those that only start jobs; those that stop jobs; those that know run times.
// None is empty.
std::vector<Group> groups_of(const Comparison& comparison);

inline constexpr const char* kHowToRead =
    "A wait is the time to a job's end less its run time: also what a preempted or suspended job "
    "waits again, saves and restores, and what it loses on GPUs slower than the fastest. Ratios "
    "are of mean waits, with 95 % intervals over blocks of time; one that contains "
    "1 leaves open which policy is better. How to read all of it: docs/whatif.md.";

}  // namespace yard::whatif
