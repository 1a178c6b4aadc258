// The plan of a sweep: points of a search space, and rungs of updates. At each rung the better
// trials are promoted to the next (successive halving, Jamieson and Talwalkar 2016). A plan with
// one rung is a random search. The plan is a deterministic function of the file.
#pragma once

#include <string>
#include <vector>

#include "env/base/config/settings.h"
#include "experiments/train/training_setup.h"

namespace yard {

struct SweepOptions {
  std::string train;  // file of the settings which all trials share
  int trials = 16;
  uint64_t seed = 1;
  double halving = 3;
  int first_updates = 0;
  double minutes = 0;
  int parallel = 1;

  void fields(FieldList& f);
};

struct SweepPlan {
  SweepOptions config;
  Settings base;  // settings of `train`, with those that the sweep sets for all trials
  std::vector<Settings> trials;  // additional settings of each trial
  std::vector<int>
      rungs;  // updates at which each rung ends, ascending; the last is the whole training
  std::vector<int> rung_trials;            // number of trials at each rung
  std::vector<int> rungs_before_rounding;  // rungs before rounding up to the next validation
  int validate_every = 1;                  // updates

  int total_updates() const;  // number of updates, summed over all trials and rungs
  // "27 trials, rungs of 10, 18 updates for ..."; mentions rounded rungs, which may have merged.
  std::string text() const;
};

// Makes the plan. Throws InputError, also if the settings of any trial are invalid.
SweepPlan read_sweep(const Settings& settings);

}  // namespace yard
