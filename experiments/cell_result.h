// One candidate in one cell: against each rival, the yardstick among them, and against the bound.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "experiments/arena.h"
#include "experiments/statistics.h"

namespace yard {

struct Versus {
  double ratio = 0;  // candidate over this one
  Interval interval;
  int blocks = 0;  // after merging
};

struct Rival {
  Score score;
  double validation_jct_s = 0;  // where the yardstick is chosen; 0: in hindsight
  Versus candidate_over_it;
  bool judged = false;  // enough jobs, blocks of these two after merging, and all of them ended
};

// One candidate in one cell.
struct CellResult {
  std::string cell, cell_hash;
  CellFacts facts;
  std::string rules;
  double cost_scale = 1;
  Variation variation;
  int replicas = 0;
  std::string candidate_name;
  std::vector<Score> candidates;  // by training seed
  double training_core_s = 0;     // of a seed, mean; 0: not known
  std::vector<Rival> rivals;
  // Candidates of the same call that are one policy; then, of learned ones, the untrained self.
  std::vector<Rival> others;
  std::vector<Score> bounds;  // that know run times; of no family where they bound nothing
  size_t yardstick = 0, best_hindsight = 0;  // into rivals
  bool validated = false;
  // Into bounds; none where what they reach is no bound (facts.no_bound).
  std::optional<size_t> oracle;
  std::optional<size_t> untrained;  // into others; nothing: the candidate did not learn
  Versus versus;                    // candidate over yardstick
  bool judged = false;              // against the yardstick
  int64_t test_openings = 0;  // of this trace's last fifth so far, this one included; 0: not opened

  int seeds() const { return static_cast<int>(candidates.size()); }
  const Score& yardstick_score() const { return rivals[yardstick].score; }
  const Rival* untrained_self() const { return untrained ? &others[*untrained] : nullptr; }
  int64_t unfinished() const;
  double ratio_hindsight() const;
  double headroom() const;  // NaN without an oracle
  double headroom_hindsight() const;
  double captured() const;  // NaN where there is next to nothing to win (kNextToNothing)
  // A figure of the candidate, averaged over seeds; over the yardstick's, NaN where that is 0.
  double mean(double Score::*figure) const;
  double over_yardstick(double Score::*figure) const;
  double per_job(double Score::*figure) const { return mean(figure) / facts.jobs; }
  double decisions_per_s()
      const;  // of one core, the simulator's own time among it; NaN: not counted
  // The largest jobs of which there are at least 50.
  std::optional<int> largest_class() const;
  double largest_class_jct_ratio() const;
  // What is over 10 % larger than the yardstick's, whatever became of the mean, as whatif names it:
  // "longest wait x 1.52", "JCT of the jobs of 17+ GPUs x 1.20".
  std::vector<std::string> grown() const;
};

// Fills in what follows from candidates, rivals (with their validation_jct_s), others and bounds.
// Requires: a candidate and a rival.
void settle(CellResult& cell);

}  // namespace yard
