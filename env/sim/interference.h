// Learns from running jobs how their surroundings slow them down: a linear model of time per unit
// of work. The caller chooses its terms.
//
//   const Interference<Fit> learned(view, carver);   // the same place in the memory every time
//   learned.begin(start);
//   learned.follow(view);                            // at the start of a decision
//   ... learned.time(terms) ...
//   learned.look(view, [&](int32_t slot) { return terms_of(slot); });   // at its end
#pragma once

#include <algorithm>

#include "env/base/carver.h"
#include "env/base/least_squares.h"
#include "env/sim/view.h"

namespace yard {

template <class Fit>
class Interference {
 public:
  using Terms = typename Fit::Terms;

  static size_t bytes(const View& view) {
    return Carver::bytes<Fit>(1) + Carver::bytes<Stand>(view.capacity());
  }

  // Requires: the memory is zero at first.
  Interference(const View& view, Carver& carver)
      : fit_(carver.allocate<Fit>(1)), stand_(carver.allocate<Stand>(view.capacity())) {}

  // Starts with the weights `start`, which count as one observation. No effect later.
  void begin(const Terms& start) const { fit_->begin(start, 1); }

  double time(const Terms& terms) const { return fit_->foretold(terms); }
  double doubt(const Terms& terms) const { return fit_->doubt(terms); }

  // Learns from the progress of jobs since the last decision. Nothing changed in this time.
  void follow(const View& view) const {
    for (int32_t i = 0; i < view.num_held(); ++i) {
      const int32_t slot = view.held(i);
      const Stand& before = stand_[slot];
      if (!before.runs || before.generation != view.ref(slot).generation) continue;
      const int64_t ran_us = view.attained_us(slot) - before.attained_us;
      if (ran_us < kLeastUs) continue;
      const auto ran = static_cast<double>(ran_us);
      const auto worked = static_cast<double>(view.worked_us(slot) - before.worked_us);
      fit_->learn(before.terms, ran / std::max(worked, ran / kMostTime));
    }
  }

  // Notes the terms of all running jobs. Call it once the decision is made.
  template <class TermsOf>
  void look(const View& view, const TermsOf& terms_of) const {
    for (int32_t slot = 0; slot < view.high_water(); ++slot) stand_[slot].runs = false;
    for (int32_t i = 0; i < view.num_held(); ++i) {
      const int32_t slot = view.held(i);
      if (view.phase(slot) != Phase::kRunning) continue;
      stand_[slot] = {terms_of(slot), view.attained_us(slot), view.worked_us(slot),
                      view.ref(slot).generation, true};
    }
  }

 private:
  static constexpr int64_t kLeastUs = 1000;  // shorter runs are rounding errors
  static constexpr double kMostTime = 20;    // cap on the time per work that is learned

  // A running job after the last decision.
  struct Stand {
    Terms terms;
    int64_t attained_us, worked_us;
    uint32_t generation;
    bool runs;
  };

  Fit* fit_;
  Stand* stand_;  // (S)
};

}  // namespace yard
