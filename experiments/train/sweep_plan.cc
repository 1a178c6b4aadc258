#include "experiments/train/sweep_plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "env/base/core/error.h"
#include "env/base/core/rng.h"
#include "env/base/text/text.h"

namespace yard {
namespace {

constexpr std::string_view kSpace = "space.", kSet = "set.";

// A search space of training settings:
//   lr: {log: [1e-4, 1e-2]}        log-uniform
//   entropy: {uniform: [0, 0.01]}
//   epochs: {integer: [1, 4]}      uniform, both ends included
//   minibatch: {choice: [1024, 2048]}
class SearchSpace {
 public:
  // Reads the settings which begin with kSpace. Throws InputError if there is none, a kind is
  // unknown or bounds are invalid.
  explicit SearchSpace(const Settings& settings);

  // Draws a value for each dimension; its origin is the dimension's line in the file.
  Settings draw(Rng rng) const;

 private:
  struct Dimension {
    std::string key, kind, origin;
    std::vector<std::string> values;  // bounds, or choices
    double low = 0, high = 0;
  };
  std::vector<Dimension> dimensions_;
};

SearchSpace::SearchSpace(const Settings& settings) {
  for (const GivenSetting& s : settings.entries()) {
    if (!s.key.starts_with(kSpace)) continue;
    const size_t dot = s.key.rfind('.');
    Dimension d;
    if (dot >= kSpace.size()) {
      d.key = s.key.substr(kSpace.size(), dot - kSpace.size());
      d.kind = s.key.substr(dot + 1);
    }
    d.origin = s.origin;
    const bool choice = d.kind == "choice";
    if (!choice && d.kind != "log" && d.kind != "uniform" && d.kind != "integer") {
      throw InputError(s.origin,
                       s.key.substr(kSpace.size()) + ": {log|uniform|integer|choice: [...]}",
                       "'" + s.value + "'");
    }
    for (const std::string_view value : split(s.value, ',')) d.values.emplace_back(trim(value));
    for (const Dimension& other : dimensions_) {
      if (other.key == d.key) throw InputError(s.origin, "one distribution for " + d.key, "two");
    }
    if (!choice) {
      const auto low = parse_double(d.values.front());
      const auto high = parse_double(d.values.back());
      const bool fits =
          d.values.size() == 2 && low && high && *low <= *high && (d.kind != "log" || *low > 0) &&
          (d.kind != "integer" ||
           (*low == std::floor(*low) && *high == std::floor(*high) && *high - *low < 1e9));
      if (!fits) {
        throw InputError(
            s.origin,
            d.key + ": " + d.kind + " of [min, max]" + (d.kind == "log" ? " above 0" : ""),
            "'" + s.value + "'");
      }
      d.low = *low;
      d.high = *high;
    } else if (trim(s.value).empty()) {
      throw InputError(s.origin, d.key + ": choice of at least one value", "none");
    }
    dimensions_.push_back(std::move(d));
  }
  if (dimensions_.empty()) throw InputError("space", "at least one setting to search", "none");
}

Settings SearchSpace::draw(Rng rng) const {
  Settings out;
  for (const Dimension& d : dimensions_) {
    std::string value;
    if (d.kind == "choice") {
      value = d.values[rng.below(static_cast<uint32_t>(d.values.size()))];
    } else if (d.kind == "integer") {
      value = fmt::format(
          "{}", std::llround(d.low) + rng.below(static_cast<uint32_t>(d.high - d.low) + 1));
    } else if (d.kind == "log") {
      value = fmt::format("{:.4g}",
                          std::exp(std::log(d.low) + rng.uniform() * std::log(d.high / d.low)));
    } else {
      value = fmt::format("{:.4g}", d.low + rng.uniform() * (d.high - d.low));
    }
    out.set(d.key, value, d.origin);
  }
  return out;
}

}  // namespace

void SweepOptions::fields(FieldList& f) {
  f("train", train, "file of settings shared by all trials");
  f("trials", trials, 1, 100'000, "number of points drawn from the space");
  f("seed", seed, 0, UINT64_MAX, "seed of the draws");
  f("halving", halving, 1.0, 1000.0,
    "factor by which each rung is longer than the rung before it and has fewer trials; 1: all "
    "trials "
    "run to the end");
  f("first_updates", first_updates, 0, 1'000'000,
    "minimum updates of each trial; 0: updates / halving^2");
  f("minutes", minutes, 0.0, 1e9, "no trial starts after this many minutes; 0: no limit");
  f("parallel", parallel, 1, 1024, "trials run in parallel");
}

int SweepPlan::total_updates() const {
  int sum = 0;
  for (size_t r = 0; r < rungs.size(); ++r) {
    sum += rung_trials[r] * (rungs[r] - (r == 0 ? 0 : rungs[r - 1]));
  }
  return sum;
}

std::string SweepPlan::text() const {
  std::string out = fmt::format("{} trials, ", config.trials);
  if (rungs_before_rounding != rungs) {
    std::vector<int> rounded = rungs_before_rounding;
    rounded.pop_back();  // the whole training
    std::erase_if(rounded, [&](int rung) { return rung % validate_every == 0; });
    out += fmt::format("rungs of {} updates rounded up to multiples of validate_every={}: ",
                       fmt::join(rounded, ", "), validate_every);
  }
  return out + fmt::format("rungs of {} updates for {} trials: {} updates in all",
                           fmt::join(rungs, ", "), fmt::join(rung_trials, ", "), total_updates());
}

SweepPlan read_sweep(const Settings& settings) {
  Settings own;
  SweepPlan plan;
  for (const GivenSetting& s : settings.entries()) {
    if (!s.key.starts_with(kSpace) && !s.key.starts_with(kSet)) own.set(s.key, s.value, s.origin);
  }
  plan.config = parse<SweepOptions>(own);
  if (plan.config.train.empty()) throw InputError("train", "a file of training settings", "none");
  plan.base = Settings::from_yaml(plan.config.train);
  for (const GivenSetting& s : settings.entries()) {
    if (s.key.starts_with(kSet)) plan.base.set(s.key.substr(kSet.size()), s.value, s.origin);
  }
  const SearchSpace space(settings);
  int updates = 0;
  for (int trial = 0; trial < plan.config.trials; ++trial) {
    const Settings point = space.draw(Rng{plan.config.seed}.split(static_cast<uint64_t>(trial)));
    Settings all = plan.base;
    for (const GivenSetting& s : point.entries()) {
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
  plan.rungs = plan.rungs_before_rounding = {updates};
  const int every = plan.validate_every;
  for (double at = updates / eta; eta > 1 && at >= least; at /= eta) {
    plan.rungs_before_rounding.insert(plan.rungs_before_rounding.begin(),
                                      static_cast<int>(std::ceil(at)));
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
