// Runs policies in one cell and caches their scores. Reads the cell's trace, scales its arrivals,
// and replays only those policies whose scores are not in the results folder.
#pragma once

#include <map>
#include <utility>

#include "experiments/evaluate/cells.h"
#include "experiments/evaluate/result_folder.h"
#include "experiments/evaluate/score_policies.h"

namespace yard {

// Facts about a cell that hold for every policy.
struct CellFacts {
  std::string trace, sha256, cluster;
  double congestion = 0, load = 0, factor = 1;
  double from_s = 0, to_s = 0;
  int64_t jobs = 0;                                   // number of scored jobs
  std::array<int64_t, kSizeClasses> class_jobs = {};  // number of scored jobs by size class
  bool limits = false;                                // whether any job has a time limit
  bool opens_test = false;
  // Reason why an oracle is no bound in this cell (see bound.h); empty if an oracle is a bound.
  std::string no_bound = {};
  // Notes to print on stderr: skipped rows, how the trace was read, GPU types and speeds without
  // data. The list is empty if the facts come from the results folder.
  std::vector<std::string> notes;
};

// Loads each pair of trace and cluster once for all cells of a command.
class TraceOnClusterCache {
 public:
  const TraceOnCluster& of(const ScenarioOptions& options);
  std::vector<std::string> trace_hashes() const;  // SHA-256 hash of each loaded trace

 private:
  // Keys hold the trace, generator hash, cluster, profiles, drawn attributes and variation.
  std::map<std::array<std::string, 6>, TraceOnCluster> by_files_;
};

class CellRunner {
 public:
  // Requires: `results` and `sources` outlive this object.
  CellRunner(CellSpec cell, const RunOptions& how, const ResultFolder& results,
             TraceOnClusterCache& sources);

  const CellSpec& cell() const { return cell_; }
  const CellFacts& facts() const { return facts_; }

  bool has_stored_score(const PolicySpec& policy_spec) const {
    return find_stored_score(policy_spec).has_value();
  }

  // Returns one score per policy, and stores each new score in the results folder at once.
  std::vector<PolicyScore> scores(const std::vector<const PolicySpec*>& policy_specs,
                                  const OnReplayed& on_replayed);

 private:
  ResultFolder::Json inputs_of(const PolicySpec& policy_spec) const;
  std::optional<PolicyScore> find_stored_score(const PolicySpec& policy_spec) const;

  CellSpec cell_;
  const ResultFolder* results_;
  TraceOnClusterCache* sources_;
  CellFacts facts_;
};

}  // namespace yard
