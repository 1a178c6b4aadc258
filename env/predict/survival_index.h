// Index of the predicted time that a job will still run (survival.h): a geometric mean of the
// Gittins index and the mean time left. Without preemption, the index is the mean time left, which
// is optimal on one machine (Rothkopf 1966). `kMaxLevel` is the level of information, `Base` has
// further settings, `kAttained` selects the prediction of run time or of work.
#pragma once

#include "env/base/config/settings.h"
#include "env/base/core/log2.h"
#include "env/predict/survival.h"

namespace yard {

template <InformationLevel kMaxLevel, class Base, Attained kAttained = Attained::kTime>
struct SurvivalPriorityIndex {
  struct Config : Base {
    double gittins = 0.85, blind = 0, blind_s = 3600;
    double keep_s = 0;
    void fields(FieldList& f) {
      Base::fields(f);
      f("gittins", gittins, 0.0, 1.0,
        "weight of the Gittins index in a geometric mean with the mean time left; without "
        "preemption, the index is the mean time left");
      f("blind", blind, 0.0, 1.0,
        "weight of the attained time plus blind_s in a geometric mean with the predicted time, "
        "as a hedge against outdated predictions");
      f("blind_s", blind_s, 1.0, 1e6, "seconds added to the attained time if `blind` is above 0");
      f("keep_s", keep_s, 0.0, 86400.0,
        "seconds for which a job's index is reused while its siblings do not change; 1800 makes "
        "a search several times faster; 0: recomputed at every decision");
    }
  };
  static constexpr InformationLevel kLevel = kMaxLevel;

  explicit SurvivalPriorityIndex(const Config& c)
      : config(c), keep_us(static_cast<int64_t>(c.keep_s * 1e6)) {}
  static size_t bytes(const View& view) {
    return Survival::bytes(view) + BumpAllocator::bytes<CachedIndex>(view.num_slots());
  }

  struct CachedIndex {
    int64_t at_us, attained_us;
    double seconds;  // 0: unknown
  };
  // A cached value is stale if the attained time has since grown by more than 1 / kStaleDivisor.
  static constexpr int64_t kStaleDivisor = 14;

  class Evaluator {
   public:
    // Updates the predictor with what has happened since the last decision.
    Evaluator(const SurvivalPriorityIndex& source, const View& view, BumpAllocator& bump)
        : Evaluator(kAttach, source, view, bump) {
      survival_.on_events(view_);
      if (source.keep_us == 0) return;
      for (int32_t i = 0; i < view.num_changed(); ++i) cache_[view.changed_slot(i)] = {};
      for (int32_t i = 0; i < view.num_holders(); ++i) forget_if_changed(view.holder_slot(i));
      for (int32_t slot = view.queue_head(); slot != kNone; slot = view.queue_next(slot)) {
        forget_if_changed(slot);
      }
    }

    // Attaches to a decision for which the predictor is already updated.
    struct Attach {};
    static constexpr Attach kAttach{};
    Evaluator(Attach, const SurvivalPriorityIndex& source, const View& view, BumpAllocator& bump)
        : source_(source),
          view_(view),
          survival_(view, bump, kAttained),
          cache_(bump.allocate<CachedIndex>(view.num_slots())) {}

    double seconds(int32_t slot) {
      if (source_.keep_us == 0) return compute(slot);
      CachedIndex& cached = cache_[slot];
      if (is_stale(slot, cached)) cached = {view_.now_us(), attained_us(slot), compute(slot)};
      return cached.seconds;
    }

   private:
    int64_t attained_us(int32_t slot) const { return yard::attained_us(view_, slot, kAttained); }

    void forget_if_changed(int32_t slot) {
      for (const Survival::ChangedJob& other : survival_.changed_jobs()) {
        if (Survival::may_affect(view_, slot, other)) cache_[slot] = {};
      }
    }

    bool is_stale(int32_t slot, const CachedIndex& cached) const {
      return cached.seconds == 0 || view_.now_us() - cached.at_us > source_.keep_us ||
             (attained_us(slot) - cached.attained_us) * kStaleDivisor > cached.attained_us;
    }

    double compute(int32_t slot) const {
      float hazards[TimeBins::kBins];
      survival_.hazards(view_, slot, hazards);
      const RemainingTime ahead = predict_remaining(
          source_.edges, attained_us(slot), survival_.unreached_limit_us(view_, slot), hazards,
          survival_.ends_within_bin(view_, slot));
      const Config& config = source_.config;
      const double gittins = config.preempt && view_.may_preempt() ? config.gittins : 0;
      const double log2_s =
          (1 - gittins) * log2_coarse(ahead.mean_s) + gittins * log2_coarse(ahead.gittins_s);
      const double attained_s = static_cast<double>(attained_us(slot)) * 1e-6;
      return exp2_coarse((1 - config.blind) * log2_s +
                         config.blind * log2_coarse(attained_s + config.blind_s));
    }

    const SurvivalPriorityIndex& source_;
    const View& view_;
    Survival survival_;
    CachedIndex* cache_;  // (S)
  };

  Config config;
  int64_t keep_us;
  BinEdges edges;
};

}  // namespace yard
