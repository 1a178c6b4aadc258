// Searches the numbers that a policy declares, on one cell or a pool of them: CMA-ES over their
// ranges, from the policy's defaults (cma_es.h). Every candidate meets the same arrivals, every
// policy gets the same number of candidates.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "experiments/replay.h"
#include "experiments/search/pool.h"

namespace yard {

struct TuneOptions {
  int budget = 64;  // candidates a policy, its defaults among them
  uint64_t seed = 1;
  std::string results;  // a folder: candidates that it has are not played again; may be empty
  std::function<void(const std::string& line)> progress;  // may be empty
};

struct Tuned {
  std::string policy;
  Level level = Level::kBlind;
  SpeedLevel speeds = SpeedLevel::kTold;
  std::vector<std::pair<std::string, std::string>> settings;  // every number that it declares
  Settings fixed;                                             // what was given and not searched
  int evaluated = 0;  // candidates, of which the policy refused some
  int refused = 0;
  std::vector<double> default_jct_s;  // by cell: mean JCT over replicas, with its defaults
  std::vector<double> jct_s;          // with the settings found
  double ratio = 1;                   // of these two, geometric mean over cells: what is searched
};

// Numbers already set in `run.policy` are kept. All candidates of a generation are played at once,
// on all cores. Throws InputError for a policy that is not registered, or that declares no number;
// Interrupted. Requires: a cell.
Tuned tune(const std::vector<TuneCell>& cells, const std::string& policy, const RunOptions& run,
           const TuneOptions& options);

// The index of the one with the least JCT, geometric mean over cells.
size_t best_of(const std::vector<Tuned>& tuned);

// Where between the ends of its range a value lies, and back. Ranges over two decades or more are
// searched by logarithm; one that begins at 0 as if it began three decades below its end, with 0
// itself at the lower end.
// The numbers that a policy declares and `given` does not. Throws InputError where there are none.
std::vector<Field> numbers_of(const std::string& policy, const Settings& given);
// A value in four digits, which is all that a search knows.
std::string value_text(const Field& field, double unit);
double to_unit(const Field& field, double value);
double from_unit(const Field& field, double unit);

// Returns a policy's file: its name, its settings, and where they come from.
std::string tuned_yaml(const Tuned& tuned, const std::vector<TuneCell>& cells,
                       const TuneOptions& options);

}  // namespace yard
