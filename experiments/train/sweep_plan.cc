#include "experiments/train/sweep_plan.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "env/base/core/error.h"
#include "experiments/train/search_space.h"

namespace yard {
namespace {

constexpr std::string_view kSpace = "space.", kSet = "set.";

}  // namespace

void SweepConfig::fields(FieldList& f) {
  f("train", train, "file of settings shared by all trials");
  f("trials", trials, 1, 100'000, "number of points drawn from the space");
  f("seed", seed, 0, UINT64_MAX, "seed of the draws");
  f("halving", halving, 1.0, 1000.0,
    "one in this many trials continues to the next rung, which is this many times longer; 1: all "
    "run to the end");
  f("first_updates", first_updates, 0, 1'000'000,
    "minimum updates of each trial; 0: updates / halving^2");
  f("minutes", minutes, 0.0, 1e9, "no trial starts after this many minutes; 0: no limit");
  f("parallel", parallel, 1, 1024, "trials run in parallel");
}

int SweepPlan::updates() const {
  int sum = 0;
  for (size_t r = 0; r < rungs.size(); ++r) {
    sum += rung_trials[r] * (rungs[r] - (r == 0 ? 0 : rungs[r - 1]));
  }
  return sum;
}

std::string SweepPlan::text() const {
  std::string out = fmt::format("{} trials, ", config.trials);
  if (unrounded_rungs != rungs) {
    std::vector<int> rounded;  // without the last, which is the whole training
    std::copy_if(unrounded_rungs.begin(), unrounded_rungs.end() - 1, std::back_inserter(rounded),
                 [&](int rung) { return rung % validate_every != 0; });
    out += fmt::format("rungs of {} updates rounded up to multiples of validate_every={}: ",
                       fmt::join(rounded, ", "), validate_every);
  }
  return out + fmt::format("rungs of {} updates for {} trials: {} updates in all",
                           fmt::join(rungs, ", "), fmt::join(rung_trials, ", "), updates());
}

SweepPlan read_sweep(const Settings& settings) {
  Settings own;
  SweepPlan plan;
  for (const Setting& s : settings.entries()) {
    if (!s.key.starts_with(kSpace) && !s.key.starts_with(kSet)) own.set(s.key, s.value, s.origin);
  }
  plan.config = parse<SweepConfig>(own);
  if (plan.config.train.empty()) throw InputError("train", "a file of training settings", "none");
  plan.base = Settings::from_yaml(plan.config.train);
  for (const Setting& s : settings.entries()) {
    if (s.key.starts_with(kSet)) plan.base.set(s.key.substr(kSet.size()), s.value, s.origin);
  }
  const SearchSpace space(settings, std::string(kSpace));
  int updates = 0;
  for (int trial = 0; trial < plan.config.trials; ++trial) {
    const Settings point = space.draw(Rng{plan.config.seed}.split(static_cast<uint64_t>(trial)));
    Settings all = plan.base;
    for (const Setting& s : point.entries()) {
      if (s.key == "updates" || s.key == "validate_every") {
        throw InputError(s.origin, "the same " + s.key + " for all trials",
                         "a dimension of the space");
      }
      all.set(s.key, s.value, s.origin);
    }
    const TrainingSetup setup = read_setup(all, 1);
    updates = setup.loop.updates;
    plan.validate_every = setup.loop.validate_every;
    plan.trials.push_back(point);
  }
  // From the longest rung down: each is `halving` times shorter, and ends with a validation.
  const double eta = plan.config.halving;
  const double least = plan.config.first_updates > 0 ? plan.config.first_updates
                                                     : std::max(1.0, updates / (eta * eta));
  plan.rungs = plan.unrounded_rungs = {updates};
  const int every = plan.validate_every;
  for (double at = updates / eta; eta > 1 && at >= least; at /= eta) {
    plan.unrounded_rungs.insert(plan.unrounded_rungs.begin(), static_cast<int>(std::ceil(at)));
    const int rung = static_cast<int>(std::ceil(at / every)) * every;
    if (rung < plan.rungs.front()) plan.rungs.insert(plan.rungs.begin(), rung);
  }
  double size = plan.config.trials;
  for (size_t r = 0; r < plan.rungs.size(); ++r, size /= eta) {
    plan.rung_trials.push_back(std::max(1, static_cast<int>(std::ceil(size - 1e-9))));
  }
  return plan;
}

}  // namespace yard
