// The cells that candidates of a search are played in, all candidates in the same replicas, many at
// once.
#pragma once

#include <string>
#include <vector>

#include "experiments/entrants.h"
#include "experiments/replay.h"
#include "experiments/result_folder.h"
#include "experiments/scenario.h"

namespace yard {

// One of the cells that a candidate is played in.
struct TuneCell {
  TuneCell(std::string name, Scenario scenario, int replicas, uint64_t seed);

  std::string name;
  std::string hash = {};  // hash_of() the cell, where a file says it
  Scenario scenario;
  std::vector<Scenario> replicas;
};

// Mean JCT over replicas, by cell; infinite where some job never ends. Empty: numbers that the
// policy refuses, each fitting, but not together.
using Jcts = std::vector<double>;

class Pool {
 public:
  // `results`: a folder; candidates that it has are not played again. May be empty.
  // Requires: `cells` outlive it.
  Pool(const std::vector<TuneCell>& cells, const std::string& results);

  // By candidate: the policy with each of these options. Throws Interrupted.
  std::vector<Jcts> play(const std::string& policy,
                         const std::vector<RunOptions>& candidates) const;

 private:
  struct Replay {
    size_t cell, replica;
  };
  ResultFolder::Json inputs_of(const Entrant& entrant) const;

  const std::vector<TuneCell>& cells_;
  ResultFolder results_;
  bool stops_;                   // whether jobs may be stopped in all of the cells
  std::vector<Replay> replays_;  // of a candidate, the longest first
};

}  // namespace yard
