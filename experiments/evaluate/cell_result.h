// Result of one candidate in one cell, compared with each rival, the baseline and the oracle.
#pragma once

#include <cstdint>

#include "experiments/evaluate/cell_runner.h"
#include "experiments/stats/intervals.h"

namespace yard {

struct RatioEstimate {
  double ratio = 0;  // candidate / rival
  Interval interval;
  int blocks = 0;  // number after merging
};

struct ComparedPolicy {
  PolicyScore score;
  double validation_jct_s =
      0;  // JCT on validation cells, by which the baseline is chosen; 0: chosen in hindsight
  RatioEstimate candidate_ratio;
  bool conclusive = false;  // whether there are enough jobs and merged blocks, and every job
                            // ended under both policies
};

// One candidate in one cell. compute_derived_fields() computes the fields which follow from the
// scores.
struct CellResult {
  std::string cell, cell_hash;
  CellFacts facts;
  std::string rules;
  double cost_scale = 1;
  ScenarioOverrides variation;
  int replicas = 0;
  std::string candidate_name;
  std::vector<PolicyScore> candidates;  // by training seed
  double training_core_s = 0;           // mean core-seconds of training per seed; 0: unknown
  std::vector<ComparedPolicy> rivals;
  // Other candidates which consist of one policy. The last entry is the untrained network, if any.
  std::vector<ComparedPolicy> others;
  std::vector<PolicyScore> bounds;          // oracles; oracle_family() only if no_bound is empty
  size_t baseline = 0, best_hindsight = 0;  // indices into rivals
  bool validated = false;
  // Index into bounds; unset if an oracle is no bound (facts.no_bound).
  std::optional<size_t> oracle;
  std::optional<size_t> untrained;  // index into others; unset: the candidate is not trained
  RatioEstimate vs_baseline;        // candidate / baseline
  bool conclusive = false;          // candidate against baseline
  int64_t test_openings =
      0;  // how often the trace's last fifth was opened, this time included; 0: it was not

  int num_training_seeds() const { return static_cast<int>(candidates.size()); }
  const PolicyScore& baseline_score() const { return rivals[baseline].score; }
  const ComparedPolicy* untrained_result() const {
    return untrained ? &others[*untrained] : nullptr;
  }
  int64_t unfinished() const;
  double ratio_to_best_in_hindsight() const;
  double oracle_headroom()
      const;  // share of the JCT that an oracle would save; NaN without an oracle
  double oracle_headroom_vs_best_in_hindsight() const;
  double oracle_gap_closed() const;  // NaN if oracle_headroom() is below kMinHeadroomForGap
  // Mean of a figure over training seeds, and the ratio of this mean to the baseline's figure,
  // which is NaN if the baseline's figure is 0.
  double mean(double PolicyScore::*figure) const;
  double ratio_to_baseline(double PolicyScore::*figure) const;
  double candidate_mean_per_job(double PolicyScore::*figure) const {
    return mean(figure) / facts.jobs;
  }
  double decisions_per_core_s()
      const;  // decisions per second on one core, with simulation; NaN: not counted
  // The largest size class with at least 50 jobs.
  std::optional<int> largest_size_class() const;
  double largest_class_jct_ratio() const;
  // Figures over 10 % larger than the baseline's, whatever the mean JCT, in the wording of whatif:
  // "longest wait x 1.52", "mean JCT of jobs of >16 GPUs x 1.20".
  std::vector<std::string> regressions() const;
};

// Computes the fields which follow from candidates, rivals with validation_jct_s, others and
// bounds. Requires: at least one candidate and one rival.
void compute_derived_fields(CellResult& cell);

}  // namespace yard
