// Who plays: policies by name with their settings, the family of bounds, and what decides how each
// of them plays.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "experiments/replay.h"

namespace yard {

struct Entrant {
  std::string name;  // for tables
  Contestant contestant;
  RunOptions options;
  // inputs_of() it, as JSON, by whether jobs may be stopped; nothing where no scores are kept.
  std::map<bool, std::string> inputs = {};
};

Entrant enter(const std::string& policy, const RunOptions& options);

// The family of bounds under these rules: every policy that knows run times, with preemption
// margins where it has one, and again with noisy run times.
std::vector<Entrant> oracle_family(const RunOptions& options);

// Heuristics that a live cluster can run, knowing no more than `most`.
std::vector<Entrant> servable_heuristics(Level most, const RunOptions& options);

// Everything that decides how the entrant plays, wherever its files lie: settings, level, weights,
// rules, and what it makes of a small workload, so that a change of the code that changes its plans
// changes this; without `stops` also of one whose jobs nobody may stop.
std::string inputs_of(const Entrant& entrant, bool stops);  // JSON

}  // namespace yard
