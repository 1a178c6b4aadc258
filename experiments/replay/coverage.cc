#include "experiments/replay/coverage.h"

#include <algorithm>
#include <map>
#include <utility>

#include "env/base/core/check.h"
#include "env/predict/recalibration.h"
#include "env/predict/survival.h"

namespace yard {
namespace {

// By nominal level.
using Intervals = std::array<Recalibration::Interval, kNominalCoverages.size()>;

// Accumulates predictions, each once the job's true time left is known.
class CoverageTally {
 public:
  // `least`, `most`: predicted probability of an end by the true time left, minus and plus
  // kResolutionS.
  void add(const Intervals& prediction, double least, double most, double predicted_median_s,
           double left_s) {
    ++group_.predictions;
    for (size_t k = 0; k < kNominalCoverages.size(); ++k) {
      const auto [low, high] = prediction[k];
      // The predicted mass around the end counts by the part of it within the interval.
      const double part = std::min(most, high) - std::max(least, low);
      const double within = most > least ? part / (most - least) : part >= 0 ? 1.0 : 0.0;
      group_.within[k] += std::max(within, 0.0);
    }
    errors_.push_back(
        std::abs(std::log2(std::max(predicted_median_s, 1.0) / std::max(left_s, 1.0))));
  }

  PredictionCoverageGroup done() {
    if (errors_.empty()) return group_;
    const auto middle = errors_.begin() + static_cast<std::ptrdiff_t>(errors_.size() / 2);
    std::nth_element(errors_.begin(), middle, errors_.end());
    group_.median_error_log2 = *middle;
    return group_;
  }

 private:
  PredictionCoverageGroup group_;
  std::vector<double> errors_;
};

struct Prediction {
  int64_t attained_us, until_us;
  std::array<float, TimeBins::kBins> hazards{};
  EndPositionsInBins ends_within_bin;
  double median = 0;  // calibrated probability of the median
  Intervals intervals{};
};

class PredictionRecorder {
 public:
  PredictionRecorder(const Workload& workload, double every_s)
      : workload_(workload), every_us_(static_cast<int64_t>(every_s * 1e6)) {}

  // Call on every decision, after the predictor has been updated.
  void on_decision(const View& view, const Survival& survival) {
    for (int32_t i = 0; i < view.num_changed(); ++i) {
      if (view.finished(view.changed_slot(i))) score_predictions(view, view.changed_slot(i));
    }
    if (view.now_us() < next_us_) return;
    next_us_ = view.now_us() + every_us_;
    for (int32_t i = 0; i < view.num_holders(); ++i) record(view, survival, view.holder_slot(i));
    for (int32_t slot = view.queue_head(); slot != kNone; slot = view.queue_next(slot)) {
      record(view, survival, slot);
    }
  }

  PredictionCoverage done() { return {all_.done(), waiting_.done(), begun_.done()}; }

 private:
  void record(const View& view, const Survival& survival, int32_t slot) {
    if (!workload_.scored(view.serial(slot))) return;
    Prediction prediction{.attained_us = view.attained_us(slot),
                          .until_us = survival.unreached_limit_us(view, slot),
                          .ends_within_bin = survival.ends_within_bin(view, slot)};
    survival.hazards(view, slot, prediction.hazards.data());
    const Recalibration& recalibration = recalibration_[prediction.attained_us > 0];
    prediction.median = recalibration.read(0.5);
    for (size_t k = 0; k < kNominalCoverages.size(); ++k) {
      prediction.intervals[k] = recalibration.interval(kNominalCoverages[k]);
    }
    predictions_[view.serial(slot)].push_back(prediction);
  }

  void score_predictions(const View& view, int32_t slot) {
    const auto it = predictions_.find(view.serial(slot));
    if (it == predictions_.end()) return;
    for (Recalibration& one : recalibration_) one.count_ended_job();
    for (const Prediction& prediction : it->second) {
      const double left_s =
          static_cast<double>(view.attained_us(slot) - prediction.attained_us) * 1e-6;
      const auto share = [&](double within_s) {
        return probability_ended_within(edges_, prediction.attained_us, prediction.until_us,
                                        prediction.hazards.data(), prediction.ends_within_bin,
                                        within_s);
      };
      const double least = share(left_s - kResolutionS), most = share(left_s + kResolutionS);
      double low_s = 0, median_s = edges_.begin_s[TimeBins::kBins];
      for (int i = 0; i < 40; ++i) {
        const double middle_s = (low_s + median_s) / 2;
        (share(middle_s) < prediction.median ? low_s : median_s) = middle_s;
      }
      all_.add(prediction.intervals, least, most, median_s, left_s);
      const bool begun = prediction.attained_us > 0;
      (begun ? begun_ : waiting_).add(prediction.intervals, least, most, median_s, left_s);
      recalibration_[begun].learn(least, most);
    }
    predictions_.erase(it);
  }

  const Workload& workload_;
  int64_t every_us_, next_us_ = 0;
  BinEdges edges_;
  std::map<int32_t, std::vector<Prediction>> predictions_;  // by job
  Recalibration recalibration_[2];  // for jobs that have not run, and others
  CoverageTally all_, waiting_, begun_;
};

class PredictionProbe final : public Policy {
 public:
  PredictionProbe(std::unique_ptr<Policy> policy, PredictionRecorder& recorder)
      : policy_(std::move(policy)), recorder_(recorder) {}

  InformationLevel level() const override { return policy_->level(); }
  InformationLevel min_information_level() const override {
    return policy_->min_information_level();
  }
  size_t memory_bytes(const View& view) const override { return policy_->memory_bytes(view); }

  void decide(const View& view, Memory& memory, Draft& draft) const override {
    if (own_.bytes() == 0) own_.reset(Survival::bytes(view));
    BumpAllocator bump(own_.data());
    Survival survival(view, bump);
    survival.on_events(view);
    recorder_.on_decision(view, survival);
    policy_->decide(view, memory, draft);
  }

 private:
  std::unique_ptr<Policy> policy_;
  PredictionRecorder& recorder_;
  // The predictor's memory. One replay uses this object, in order.
  mutable Memory own_;
};

}  // namespace

PredictionCoverage measure_interval_coverage(const Scenario& scenario, PreparedPolicy prepared,
                                             const RunOptions& options, double every_s) {
  YARD_CHECK(prepared.policy != nullptr, "coverage needs a policy, not a rule set's own scheduler");
  PredictionRecorder recorder(scenario.workload, every_s);
  prepared.policy = std::make_unique<PredictionProbe>(std::move(prepared.policy), recorder);
  const InformationLevel most = options.information.value_or(InformationLevel::kEstimate);
  prepared.level = std::max(
      {prepared.level, InformationLevel::kHistory, std::min(most, InformationLevel::kEstimate)});
  run_prepared(scenario, prepared, options);
  return recorder.done();
}

}  // namespace yard
