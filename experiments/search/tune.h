// Tunes the numeric settings of a policy on one cell or several: CMA-ES over their ranges, starting
// from the defaults (cma_es.h). All candidates see the same arrivals, and all policies have the
// same budget.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "experiments/replay/replay.h"
#include "experiments/search/candidate_evaluator.h"

namespace yard {

struct TuneOptions {
  int budget = 64;  // candidates per policy, defaults included
  uint64_t seed = 1;
  std::string results;  // folder of results to reuse and extend; may be empty
  std::function<void(const std::string& line)> progress;  // may be empty
};

struct TuningResult {
  std::string policy;
  InformationLevel level = InformationLevel::kBlind;
  SpeedInformation speeds = SpeedInformation::kExact;
  std::vector<std::pair<std::string, std::string>> settings;  // every tuned number
  Settings fixed;                                             // given settings, not tuned
  int evaluated = 0;                                          // candidates, refused ones included
  int refused = 0;
  std::vector<double> default_jct_s;  // by cell: mean JCT over replicas, defaults
  std::vector<double> jct_s;          // by cell: mean JCT over replicas, tuned settings
  double ratio = 1;                   // jct_s / default_jct_s, geometric mean; the objective
};

// Settings in `run.policy` are fixed. Replays all candidates of a generation in parallel. Throws
// InputError for an unknown policy or a policy without free numbers, and Interrupted on SIGINT or
// SIGTERM. Requires: a cell.
TuningResult tune(const std::vector<TuneCell>& cells, const std::string& policy,
                  const RunOptions& run, const TuneOptions& options);

// Returns the index of the policy with the least JCT, geometric mean over cells.
size_t best_of(const std::vector<TuningResult>& tuned);

// Returns the numeric settings of a policy which `given` does not set. Throws InputError if no
// numeric setting is free.
std::vector<Field> free_numeric_settings(const std::string& policy, const Settings& given);
// text_from_unit_interval() prints the value at `unit` to four digits. to_unit_interval() and
// from_unit_interval() map a setting's range to [0, 1] and back. Ranges of two decades or more are
// logarithmic; a range from 0 starts three decades below its end, with 0 itself at unit 0.
std::string text_from_unit_interval(const Field& field, double unit);
double to_unit_interval(const Field& field, double value);
double from_unit_interval(const Field& field, double unit);

// Returns the policy's YAML file: name, settings and provenance.
std::string tuned_yaml(const TuningResult& tuned, const std::vector<TuneCell>& cells,
                       const TuneOptions& options);

}  // namespace yard
