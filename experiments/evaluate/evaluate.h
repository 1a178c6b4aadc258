// Compares policies with heuristics on the same jobs and arrivals, averaged over replicas. The
// baseline is chosen on other cells, an oracle gives the headroom, and ratios have intervals. A
// trained policy is also compared with its untrained network, which samples in the same way.
// docs/reference/metrics.md defines each figure.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "experiments/evaluate/cell_result.h"
#include "experiments/evaluate/cells.h"

namespace yard {

// One agent from several training seeds, or one policy.
struct CandidateSpec {
  std::string name;
  std::vector<std::string> policies;
};

struct EvaluateOptions {
  std::vector<CellSpec> cells;
  std::vector<CellSpec> validation;  // cells named by chosen_on
  std::vector<CandidateSpec> candidates;
  std::vector<std::string> against;  // rivals; empty: servable_heuristics()
  std::function<RunOptions(const std::string& policy)> run_of;
  std::function<void(const std::string& line)> progress;  // may be empty
  std::string results;             // folder of scores to reuse and extend; empty: none
  std::filesystem::path test_log;  // log of test-split openings; empty: none
};

struct Evaluation {
  std::vector<CellResult> cells;  // results in the order of cells, then of candidates
  std::vector<std::string>
      missing_time_limits_notes;  // notes on what follows if no job has a time limit
  // Skipped cells, whose target congestion cannot be reached, each with the reason.
  std::vector<std::pair<std::string, std::string>> skipped;
};

// Throws InputError, Interrupted.
Evaluation evaluate(const EvaluateOptions& options);

}  // namespace yard
