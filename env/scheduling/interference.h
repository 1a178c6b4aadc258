// Linear model of jobs' time per unit of work, learned from running jobs. Callers choose the terms.
//
//   const InterferenceModel<Fit> learned(view, bump);   // the same place in the memory every time
//   learned.begin(start);
//   learned.on_events(view);                            // at the start of a decision
//   ... learned.predicted_time_per_work(terms) ...
//   learned.scan(view, [&](int32_t slot) { return terms_of(slot); });   // at its end
#pragma once

#include <algorithm>

#include "env/base/core/bump_allocator.h"
#include "env/base/core/least_squares.h"
#include "env/sim/view/view.h"

namespace yard {

template <class Fit>
class InterferenceModel {
 public:
  using Terms = typename Fit::Terms;

  static size_t bytes(const View& view) {
    return BumpAllocator::bytes<Fit>(1) + BumpAllocator::bytes<RunningJobSample>(view.num_slots());
  }

  // Requires: the memory of `bump` is zero before the first use.
  InterferenceModel(const View& view, BumpAllocator& bump)
      : fit_(bump.allocate<Fit>(1)), samples_(bump.allocate<RunningJobSample>(view.num_slots())) {}

  // Sets the initial weights, which count as one observation. Later calls have no effect.
  void begin(const Terms& start) const { fit_->begin(start, 1); }

  double predicted_time_per_work(const Terms& terms) const { return fit_->predict(terms); }
  double variance(const Terms& terms) const { return fit_->variance(terms); }

  // Learns from the progress of running jobs since scan() at the last decision.
  void on_events(const View& view) const {
    for (const int32_t slot : view.holder_slots()) {
      const RunningJobSample& before = samples_[slot];
      if (!before.runs || before.generation != view.ref(slot).generation) continue;
      const int64_t ran_us = view.attained_us(slot) - before.attained_us;
      if (ran_us < kMinUs) continue;
      const auto ran = static_cast<double>(ran_us);
      const auto worked = static_cast<double>(view.work_done_in_whole_us(slot) - before.worked_us);
      fit_->learn(before.terms, ran / std::max(worked, ran / kMaxTime));
    }
  }

  // Records the terms of all running jobs. Call scan() after the decision is made.
  template <class TermsOf>
  void scan(const View& view, const TermsOf& terms_of) const {
    for (int32_t slot = 0; slot < view.slot_high_water(); ++slot) samples_[slot].runs = false;
    for (const int32_t slot : view.holder_slots()) {
      if (view.phase(slot) != Phase::kRunning) continue;
      samples_[slot] = {terms_of(slot), view.attained_us(slot), view.work_done_in_whole_us(slot),
                        view.ref(slot).generation, true};
    }
  }

 private:
  static constexpr int64_t kMinUs = 1000;  // shorter runs give only rounding errors
  static constexpr double kMaxTime = 20;   // upper limit of learned time per work

  // A running job, as it was after the last decision.
  struct RunningJobSample {
    Terms terms;
    int64_t attained_us, worked_us;
    uint32_t generation;
    bool runs;
  };

  Fit* fit_;
  RunningJobSample* samples_;  // (S)
};

}  // namespace yard
