// Evaluates the candidate settings of a search on several cells in parallel, with the same replicas
// of the cells for all candidates.
#pragma once

#include <string>
#include <vector>

#include "experiments/evaluate/policy_specs.h"
#include "experiments/evaluate/result_folder.h"
#include "experiments/replay/replay.h"
#include "experiments/scenario/scenario.h"

namespace yard {

// One cell on which the candidates of a search are evaluated.
struct TuneCell {
  TuneCell(std::string name, Scenario scenario, int replicas, uint64_t seed);

  std::string name;
  std::string hash = {};  // hash of a cell from a file of cells
  Scenario scenario;
  std::vector<Scenario> replicas;
};

// Mean JCT over replicas, by cell; infinite if a job never ends. The vector is empty if the policy
// refuses the combination of settings.
using MeanJcts = std::vector<double>;

class CandidateEvaluator {
 public:
  // `results`: folder of cached results, which is reused and extended; empty: no cache. Requires:
  // `cells` outlive this object.
  CandidateEvaluator(const std::vector<TuneCell>& cells, const std::string& results);

  // Returns the mean JCTs of `policy` under each candidate's options. Throws Interrupted.
  std::vector<MeanJcts> evaluate(const std::string& policy,
                                 const std::vector<RunOptions>& candidates) const;

 private:
  struct ReplicaIndex {
    size_t cell, replica;
  };
  ResultFolder::Json inputs_of(const PolicySpec& policy_spec) const;

  const std::vector<TuneCell>& cells_;
  ResultFolder results_;
  bool stops_;                         // whether every cell allows preemption
  std::vector<ReplicaIndex> replays_;  // replays of a candidate, longest first
};

}  // namespace yard
