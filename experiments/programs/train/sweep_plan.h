// What a sweep tries, and how far: points of a space, and rungs of updates. At each rung the better
// part of the trials goes on to the next (successive halving: Jamieson and Talwalkar 2016); with
// one rung it is random search. The same file always gives the same plan.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "env/base/settings.h"
#include "experiments/programs/train/setup.h"

namespace yard {

struct SweepConfig {
  std::string train;  // the file that trials have in common
  int trials = 16;
  uint64_t seed = 1;
  double halving = 3;
  int first_updates = 0;
  double minutes = 0;
  int parallel = 1;

  void fields(FieldList& f);
};

struct SweepPlan {
  SweepConfig config;
  Settings base;                 // of `train`, and what the sweep sets for all trials
  std::vector<Settings> trials;  // what each of them has besides
  std::vector<int> rungs;        // updates, rising; the last is the whole training
  std::vector<int> sizes;        // trials that get to each rung
  std::vector<int> asked;        // rungs before they are rounded up to a validation, the last too
  int validate_every = 1;        // updates

  int updates() const;  // of all trials on all rungs together
  // "27 trials, rungs of 10, 18 updates for ..."; says where rungs were rounded up, and so merged.
  std::string text() const;
};

// Throws InputError: also where a trial's settings would be refused, before any has begun.
SweepPlan read_sweep(const Settings& settings);

}  // namespace yard
