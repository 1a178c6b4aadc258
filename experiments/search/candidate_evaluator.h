// Evaluates the candidates of a search on a pool of cells, with the same replicas for all, in
// parallel.
#pragma once

#include <string>
#include <vector>

#include "experiments/evaluate/policy_specs.h"
#include "experiments/evaluate/result_folder.h"
#include "experiments/replay/replay.h"
#include "experiments/scenario/scenario.h"

namespace yard {

// One cell of the pool.
struct TuneCell {
  TuneCell(std::string name, Scenario scenario, int replicas, uint64_t seed);

  std::string name;
  std::string hash = {};  // hash_of() the cell, if it comes from a file
  Scenario scenario;
  std::vector<Scenario> replicas;
};

// Mean JCT over replicas, by cell; infinite if a job never ends. Empty: the policy refuses this
// combination of values.
using MeanJcts = std::vector<double>;

class CandidateEvaluator {
 public:
  // `results`: a folder of results to reuse and extend; may be empty. Requires: `cells` outlive
  // this object.
  CandidateEvaluator(const std::vector<TuneCell>& cells, const std::string& results);

  // Returns the JCTs of `policy` under each of these options. Throws Interrupted.
  std::vector<MeanJcts> evaluate(const std::string& policy,
                                 const std::vector<RunOptions>& candidates) const;

 private:
  struct ReplicaIndex {
    size_t cell, replica;
  };
  ResultFolder::Json inputs_of(const PolicySpec& policy_spec) const;

  const std::vector<TuneCell>& cells_;
  ResultFolder results_;
  bool stops_;                         // whether all cells allow preemption
  std::vector<ReplicaIndex> replays_;  // replays of one candidate, the longest first
};

}  // namespace yard
