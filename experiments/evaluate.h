// Policies against heuristics, honestly: the same jobs and arrivals for everybody, replicas
// averaged, a yardstick that was chosen elsewhere, a bound that says what could be won at all, an
// interval. What learned is compared with its untrained self, too, which draws in the same way.
// What each figure means stands in docs/metrics.md.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "experiments/cell_result.h"
#include "experiments/cells.h"

namespace yard {

// The same agent from several training seeds, or one policy.
struct Challenger {
  std::string name;
  std::vector<std::string> policies;
};

struct EvaluateOptions {
  std::vector<CellSpec> cells;
  std::vector<CellSpec> choosing;  // those that their `chosen_on` names
  std::vector<Challenger> candidates;
  std::vector<std::string> against;  // empty: every servable heuristic that knows no more
  std::function<RunOptions(const std::string& policy)> run_of;
  std::function<void(const std::string& line)> progress;  // may be empty
  std::string results;  // a folder: what it has is not played again; empty: nothing is kept
  std::filesystem::path test_log;  // where openings of test splits are logged; empty: nowhere
};

struct Evaluation {
  std::vector<CellResult> cells;          // by cell, then candidate
  std::vector<std::string> limits_notes;  // what it means that no job has a limit
  // Cells of a file that are never as crowded as they are to be, each with how near they come.
  std::vector<std::pair<std::string, std::string>> left_out;
};

// Throws InputError; Interrupted.
Evaluation evaluate(const EvaluateOptions& options);

}  // namespace yard
