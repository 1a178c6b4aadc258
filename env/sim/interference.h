// Watches running jobs and learns how much longer their work takes by how they stand: a linear
// model of time per work, whose terms are its user's.
//
//   const Interference<Fit> learned(view, carver);   // the same place in a memory every time
//   learned.begin(start);
//   learned.follow(view);                            // first thing of a decision
//   ... learned.time(terms) ...
//   learned.look(view, [&](int32_t slot) { return terms_of(slot); });   // last thing of it
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

  // Requires: the memory is zeros at first.
  Interference(const View& view, Carver& carver)
      : fit_(carver.take<Fit>(1)), stand_(carver.take<Stand>(view.capacity())) {}

  // The start is worth one observation.
  void begin(const Terms& start) const { fit_->begin(start, 1); }

  double time(const Terms& terms) const { return fit_->foretold(terms); }
  double doubt(const Terms& terms) const { return fit_->doubt(terms); }

  // Nothing changed between two decisions: what a job did in that time is what its place let it.
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

  // Notes how running jobs stand, once the decision is made.
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
  static constexpr int64_t kLeastUs = 1000;  // of running, to count: less is rounding
  static constexpr double kMostTime = 20;    // a crawling job tells no more than this

  // How a running job stood after the last decision.
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
