// Many policies through the replicas of one scenario, on all cores.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "experiments/evaluate.h"

namespace yard {

struct Entrant {
  std::string name;  // for tables
  Contestant contestant;
  RunOptions options;
};

Entrant enter(const std::string& policy, const RunOptions& options);

// The family of bounds under these rules: every policy that knows run times, with preemption
// margins where it has one, and again with noisy run times.
std::vector<Entrant> oracle_family(const RunOptions& options);

// Heuristics that a live cluster can run, knowing no more than `most`.
std::vector<Entrant> servable_heuristics(Level most, const RunOptions& options);

// The highest number of GPUs that at least 10 scored jobs ask for; the highest of all where none
// is.
int32_t largest_class(const Scenario& scenario);

// Returns the score of each entrant. Requires: replicas are those of `scenario`.
std::vector<Score> play(const Scenario& scenario, const std::vector<Scenario>& replicas,
                        const std::vector<Entrant>& entrants,
                        const std::function<void(const std::string&)>& progress);

// The index of the least mean JCT.
size_t best_of(const std::vector<Score>& scores);

}  // namespace yard
