#include "experiments/coverage.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "env/base/check.h"
#include "env/predict/recalibration.h"
#include "env/predict/survival.h"

namespace yard {
namespace {

// By nominal level.
using Intervals = std::array<Recalibration::Interval, kNominal.size()>;

// Accumulates predictions, each once the job's true time left is known.
class Tally {
 public:
  // `least`, `most`: predicted probability of an end by the true time left, minus and plus
  // kToldToS.
  void add(const Intervals& told, double least, double most, double told_median_s, double left_s) {
    ++group_.asked;
    for (size_t k = 0; k < kNominal.size(); ++k) {
      const auto [low, high] = told[k];
      // The predicted mass around the end counts by the part of it within the interval.
      const double part = std::min(most, high) - std::max(least, low);
      const double within = most > least ? part / (most - least) : part >= 0 ? 1.0 : 0.0;
      group_.within[k] += std::max(within, 0.0);
    }
    errors_.push_back(std::abs(std::log2(std::max(told_median_s, 1.0) / std::max(left_s, 1.0))));
  }

  CoverageGroup done() {
    if (errors_.empty()) return group_;
    const auto middle = errors_.begin() + static_cast<std::ptrdiff_t>(errors_.size() / 2);
    std::nth_element(errors_.begin(), middle, errors_.end());
    group_.median_error_log2 = *middle;
    return group_;
  }

 private:
  CoverageGroup group_;
  std::vector<double> errors_;
};

// One prediction of a job's time left.
struct Told {
  int64_t attained_us, until_us;
  std::array<float, TimeBins::kBins> hazards;
  EndPlaces places;
  double median;  // calibrated probability of the median
  Intervals intervals;
};

class Looks {
 public:
  Looks(const Workload& workload, double every_s)
      : workload_(workload), every_us_(static_cast<int64_t>(every_s * 1e6)) {}

  // Call on every decision, after the predictor has been updated.
  void look(const View& view, const Survival& survival) {
    for (int32_t i = 0; i < view.num_changed(); ++i) {
      if (view.finished(view.changed(i))) judge(view, view.changed(i));
    }
    if (view.now_us() < next_us_) return;
    next_us_ = view.now_us() + every_us_;
    for (int32_t i = 0; i < view.num_held(); ++i) ask(view, survival, view.held(i));
    for (int32_t slot = view.queue_head(); slot != kNone; slot = view.queue_next(slot)) {
      ask(view, survival, slot);
    }
  }

  Coverage done() { return {all_.done(), waiting_.done(), begun_.done()}; }

 private:
  void ask(const View& view, const Survival& survival, int32_t slot) {
    if (!workload_.scored(view.serial(slot))) return;
    Told told{view.attained_us(slot),
              Survival::until_us(view, slot),
              {},
              survival.places(view, slot),
              0,
              {}};
    survival.hazards(view, slot, told.hazards.data());
    const Recalibration& like_it = recalibration_[told.attained_us > 0];
    told.median = like_it.read(0.5);
    for (size_t k = 0; k < kNominal.size(); ++k) {
      told.intervals[k] = like_it.interval(kNominal[k]);
    }
    told_[view.serial(slot)].push_back(told);
  }

  void judge(const View& view, int32_t slot) {
    const auto it = told_.find(view.serial(slot));
    if (it == told_.end()) return;
    for (Recalibration& one : recalibration_) one.begin_job();
    for (const Told& told : it->second) {
      const double left_s = static_cast<double>(view.attained_us(slot) - told.attained_us) * 1e-6;
      const auto share = [&](double within_s) {
        return share_ended(edges_, told.attained_us, told.until_us, told.hazards.data(),
                           told.places, within_s);
      };
      const double least = share(left_s - kToldToS), most = share(left_s + kToldToS);
      double low_s = 0, median_s = edges_.begin_s[TimeBins::kBins];
      for (int i = 0; i < 40; ++i) {
        const double middle_s = (low_s + median_s) / 2;
        (share(middle_s) < told.median ? low_s : median_s) = middle_s;
      }
      all_.add(told.intervals, least, most, median_s, left_s);
      const bool begun = told.attained_us > 0;
      (begun ? begun_ : waiting_).add(told.intervals, least, most, median_s, left_s);
      recalibration_[begun].learn(least, most);
    }
    told_.erase(it);
  }

  const Workload& workload_;
  int64_t every_us_, next_us_ = 0;
  BinEdges edges_;
  std::map<int32_t, std::vector<Told>> told_;  // by job
  Recalibration recalibration_[2];             // for jobs that have not run, and others
  Tally all_, waiting_, begun_;
};

// Decides as the wrapped policy and queries the predictor on each decision.
class Beside final : public Policy {
 public:
  Beside(std::unique_ptr<Policy> policy, Looks& looks)
      : policy_(std::move(policy)), looks_(looks) {}

  Level level() const override { return policy_->level(); }
  Level least_level() const override { return policy_->least_level(); }
  size_t memory_bytes(const View& view) const override { return policy_->memory_bytes(view); }

  void decide(const View& view, Memory& memory, Draft& draft) const override {
    if (own_.bytes() == 0) own_.reset(Survival::bytes(view));
    Carver carver(own_.data());
    Survival survival(view, carver);
    survival.follow(view);
    looks_.look(view, survival);
    policy_->decide(view, memory, draft);
  }

 private:
  std::unique_ptr<Policy> policy_;
  Looks& looks_;
  // The predictor's memory. One replay uses this object, in order.
  mutable Memory own_;
};

}  // namespace

Coverage coverage(const Scenario& scenario, Contestant contestant, const RunOptions& options,
                  double every_s) {
  YARD_CHECK(contestant.policy != nullptr, "a rule set's own scheduler cannot be asked beside");
  Looks looks(scenario.workload, every_s);
  contestant.policy = std::make_unique<Beside>(std::move(contestant.policy), looks);
  const Level most = options.information.value_or(Level::kEstimate);
  contestant.level =
      std::max({contestant.level, Level::kHistory, std::min(most, Level::kEstimate)});
  run_prepared(scenario, contestant, options);
  return looks.done();
}

}  // namespace yard
