// A policy against heuristics, honestly: the same jobs and arrivals for everybody, replicas
// averaged, a yardstick that was chosen elsewhere, a bound that says what could be won at all, an
// interval. What each figure means stands in docs/metrics.md.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "experiments/replay.h"
#include "experiments/scenario.h"
#include "experiments/statistics.h"

namespace yard {

struct EvaluateOptions {
  ScenarioOptions scenario;                        // its `congestion` is not read
  std::vector<std::optional<double>> congestions;  // a cell each; nullopt: arrivals as they are
  std::vector<std::string> candidates;             // the same agent from several training seeds
  std::string candidate_name;
  std::vector<std::string> against;        // empty: every servable heuristic that knows no more
  std::string validate_from, validate_to;  // both empty: the yardstick is chosen in hindsight
  int replicas = 4;
  uint64_t seed = 1;
  std::function<RunOptions(const std::string& policy)> run_of;
  std::function<void(const std::string& line)> progress;  // may be empty
  std::string test_log = "evaluations/test_log.jsonl";
};

// What one policy made of a cell, averaged over replicas.
struct Score {
  std::string name;
  Level level = Level::kBlind;
  std::vector<double> jct_s;  // by scored job
  double mean_jct_s = 0;
  double p99_jct_s = 0;
  double max_wait_s = 0;
  double preemptions = 0;
  double largest_class_jct_s = 0;
  int64_t unfinished = 0;  // over all replicas
};

struct Versus {
  double ratio = 0;  // candidate over this one
  Interval interval;
  int blocks = 0;  // after merging
};

struct Rival {
  Score score;
  double validation_jct_s = 0;  // 0: not validated
  Versus candidate_over_it;
};

struct CellResult {
  std::string trace, sha256, cluster, rules;
  double congestion = 0, load = 0, factor = 1, cost_scale = 1;
  double from_s = 0, to_s = 0;
  int64_t jobs = 0;
  int32_t largest_class = 0;
  std::vector<Score> candidates;  // by training seed
  std::string candidate_name;
  std::vector<Rival> rivals;
  std::vector<Score> bounds;
  size_t yardstick = 0, best_hindsight = 0;  // into rivals
  bool validated = false;
  std::optional<size_t> oracle;  // into bounds
  Versus versus;                 // candidate over yardstick
  int replicas = 0, seeds = 0;
  bool judged = false;
  Cell unmerged;  // block sums before merging, for the summary

  int64_t unfinished() const;
  double mean_jct_s() const;  // of the candidate
  double ratio_hindsight() const;
  double headroom() const;  // NaN without an oracle
  double headroom_hindsight() const;
  double captured() const;
  // A figure of the candidate, averaged over seeds, over the yardstick's; NaN where that is 0.
  double over_yardstick(double Score::*figure) const;
};

struct Evaluation {
  std::vector<CellResult> cells;
  // Over the judged cells, over all where none is judged.
  bool over_judged = false;
  double ratio = 0;  // geometric mean
  double captured = 0;
  Interval captured_interval;
  std::vector<std::string> lack_limits;  // who goes by limits, where no job has one
  int64_t test_openings = 0;  // of this trace's last fifth so far, this one included; 0: not opened
};

// Throws InputError; Interrupted.
Evaluation evaluate(const EvaluateOptions& options);

}  // namespace yard
