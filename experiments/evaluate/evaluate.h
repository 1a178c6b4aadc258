// Compares policies with heuristics on the same jobs and arrivals, averaged over replicas. The
// baseline heuristic is chosen on separate cells, an oracle policy gives the headroom, and ratios
// have intervals. A trained policy is also compared with its own network before training.
// docs/reference/metrics.md defines each figure.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "experiments/evaluate/cell_result.h"
#include "experiments/evaluate/cells.h"

namespace yard {

// A compared candidate: checkpoints of one agent from several training seeds, or one policy.
struct CandidateSpec {
  std::string name;
  std::vector<std::string> policies;
};

struct EvaluateOptions {
  std::vector<CellSpec> cells;
  std::vector<CellSpec> validation;  // cells named by CellSpec::chosen_on
  std::vector<CandidateSpec> candidates;
  std::vector<std::string> against;  // rival policies; empty: servable_heuristics()
  std::function<RunOptions(const std::string& policy)> run_of;
  std::function<void(const std::string& line)> progress;  // may be empty
  std::string results;             // folder of cached scores; empty: no cache
  std::filesystem::path test_log;  // log of test-split openings; empty: no log
};

struct Evaluation {
  std::vector<CellResult> cells;                       // sorted by cell, then by candidate
  std::vector<std::string> missing_time_limits_notes;  // notes on missing limits
  // Names of skipped cells, whose target congestion cannot be reached, each with the reason.
  std::vector<std::pair<std::string, std::string>> skipped;
};

// Runs the comparison. Throws InputError, or Interrupted on SIGINT or SIGTERM.
Evaluation evaluate(const EvaluateOptions& options);

}  // namespace yard
