// One cell and who plays in it. Its trace is read, its arrivals are calibrated and policies play
// only where a folder of results does not know the outcome yet.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "experiments/cells.h"
#include "experiments/contest.h"
#include "experiments/result_folder.h"

namespace yard {

// What is known of a cell before anybody plays.
struct CellFacts {
  std::string trace, sha256, cluster;
  double congestion = 0, load = 0, factor = 1;
  double from_s = 0, to_s = 0;
  int64_t jobs = 0;                                   // scored
  std::array<int64_t, kSizeClasses> class_jobs = {};  // of these
  bool limits = false;                                // some job has one
  bool opens_test = false;
  // What makes policies that know run times no bound here (why_no_bound()); empty: they are one.
  std::string no_bound = {};
  // Lines for stderr: rows left out, how the trace was read, what is not known of GPU types and of
  // speeds. Of a cell that is looked at now, not of one whose facts were kept.
  std::vector<std::string> notes;
};

// Traces that have been read, for all cells of a command.
class Sources {
 public:
  const Source& of(const ScenarioOptions& options);
  std::vector<std::string> hashes() const;  // sha256 of those that were read

 private:
  // By trace, cluster, profiles, draws, variation.
  std::map<std::array<std::string, 6>, Source> by_files_;
};

class Arena {
 public:
  // Requires: `results` and `sources` outlive it.
  Arena(CellSpec cell, const RunOptions& how, const ResultFolder& results, Sources& sources);

  const CellSpec& cell() const { return cell_; }
  const CellFacts& facts() const { return facts_; }

  bool knows(const Entrant& entrant) const { return known(entrant).has_value(); }

  // Returns the score of each, and keeps it as soon as it is there.
  std::vector<Score> scores(const std::vector<const Entrant*>& entrants,
                            const WhenPlayed& when_played);

 private:
  ResultFolder::Json inputs_of(const Entrant& entrant) const;
  std::optional<Score> known(const Entrant& entrant) const;

  CellSpec cell_;
  const ResultFolder* results_;
  Sources* sources_;
  CellFacts facts_;
};

}  // namespace yard
