// Survival model of run times, learned online from the bins that jobs pass and end in. Running jobs
// count up to their present bin (Kaplan and Meier, "Nonparametric Estimation from Incomplete
// Observations", JASA 1958). Recent observations count more, since users' habits drift. Each layer
// of the model is the prior of the next layer: all jobs; the size class; the latest jobs of the
// class; the limit; user and size; name; siblings. Siblings are jobs of one user and size submitted
// at about the same time: within a minute, log run times of siblings correlate 0.8 to 0.96 in
// recorded traces. Strengths of priors are learned (prior_strength.h). Dims: U users, A names, G
// size classes, B bins, L layers, E ages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "env/base/core/bump_allocator.h"
#include "env/predict/attained.h"
#include "env/predict/hazard.h"
#include "env/predict/hazard_events.h"
#include "env/predict/job_size.h"
#include "env/predict/prior_strength.h"
#include "env/predict/siblings.h"
#include "env/sim/view/view.h"

namespace yard {

class Survival {
 public:
  static size_t bytes(const View& view);

  // Requires: `bump` gives the same memory at every decision, filled with zeros before the first.
  Survival(const View& view, BumpAllocator& bump, Attained attained = Attained::kTime);

  // Learns from the events since the last decision. Must be called at every decision.
  void on_events(const View& view);

  // A job that started, passed a bin or ended. Predictions for its siblings may have changed.
  struct ChangedJob {
    int64_t submit_us;
    int32_t user, gpus;
  };
  const std::vector<ChangedJob>& changed_jobs() const { return changes_; }

  // Returns whether a change affects the layer of siblings of the job in `slot`.
  static bool may_affect(const View& view, int32_t slot, const ChangedJob& other) {
    const int64_t apart_us = view.submit_us(slot) - other.submit_us;
    return other.user == view.user(slot) && other.gpus == view.gpus(slot) && apart_us <= kFarUs &&
           -apart_us <= kFarUs;
  }

  // Returns the job's limit of attained time, or kUnlimitedUs if it is hidden, unset or passed.
  int64_t unreached_limit_us(const View& view, int32_t slot) const {
    const int64_t limit_us = visible_limit_us(view, slot);
    return limit_us > attained_us(view, slot, attained_) ? limit_us : kUnlimitedUs;
  }

  // Returns the hazards (B) of the job's size class, without other layers.
  const float* size_hazards(const View& view, int32_t slot) const {
    return by_size_ + gpu_size_bucket(view.gpus(slot)) * TimeBins::kBins;
  }

  // Returns where within a time bin jobs of the size class of the job in `slot` end.
  const EndPositionsInBins& ends_within_bin(const View& view, int32_t slot) const {
    return ends_within_bin_[gpu_size_bucket(view.gpus(slot))];
  }

  // Writes the job's hazards (B), ignoring its limit, from the job's present bin on. Entries of
  // earlier bins have no meaning. Requires: the slot is live.
  void hazards(const View& view, int32_t slot, float* out) const;

 private:
  enum Layer : int32_t { kAll, kSizes, kRecent, kLimits, kUsers, kNames, kSiblings, kLayers };

  static constexpr float kFirstChance = 0.075F;  // hazard of every bin before any observation
  // Factor by which an observation in a bin decays the bin's earlier observations, by layer.
  static constexpr float kKeep[kSiblings] = {1 - 1.0F / 8192, 1 - 1.0F / 2048, 1 - 1.0F / 32,
                                             1 - 1.0F / 512,  1 - 1.0F / 64,   1 - 1.0F / 32};
  static constexpr float kKeepPlaces = 1 - 1.0F / 64;
  static constexpr float kEven = 2;  // pseudo-observations of ends spread evenly over a bin
  // Prior strengths are learned for each age (range of attained time) separately, since few jobs
  // resemble one that has run for days.
  static constexpr int32_t kAge = 3 * TimeBins::kPerOctave, kAges = TimeBins::kBins / kAge;
  // A sibling at distance kApartUs counts half; a sibling beyond kFarUs (below 1/50) is ignored.
  static constexpr int64_t kApartUs = 120'000'000, kFarUs = 7 * kApartUs;

  static int64_t num_rows(const View& view);

  // Calls does(layer, row) for the rows that apply to a job, from the widest to the narrowest.
  template <class Does>
  void for_each_applicable_row(const View& view, int32_t slot, const Does& does) const;

  LatestStartedJobs& siblings(const View& view, int32_t slot) const;

  // Calls does(weight, bin reached, whether ended there) for each sibling of the job.
  template <class Does>
  void for_each_sibling(const View& view, int32_t slot, const Does& does) const;

  // Blends a layer into the hazards `out` (B), from the first bin of age `from_age` on.
  void blend(Layer layer, const float* exposed, const float* ended, int32_t from_age,
             float* out) const;

  float prior_strength(Layer layer, int32_t b) const {
    return prior_strengths_[layer * kAges + b / kAge].jobs;
  }

  // Updates the prior strengths by how well each choice would have predicted the events.
  void update_prior_strengths(const View& view);

  // Decays all affected rows before adding any event, so that the order of events does not matter.
  void learn(const View& view);

  // Records the siblings that started and the siblings that ended.
  void update_siblings(const View& view);

  void update_size_hazards();

  Attained attained_;
  int32_t num_users_;
  HazardCounts* rows_;  // (1 + 2 G + B + 4 U + A)  all, sizes, recent, limits, user sizes, names
  PriorStrength* prior_strengths_;       // (L, E)
  float* by_size_;                       // (G, B)  hazards by size class
  EndPositionsInBins* end_counts_;       // (G)     numbers of ends by cell of a bin
  EndPositionsInBins* ends_within_bin_;  // (G)     shares computed from end_counts_
  LatestStartedJobs* siblings_;  // (G + U) by user, or by size class where the trace has no users
  HazardEvents events_;
  int32_t* ready_;                   // (1)
  std::vector<ChangedJob> changes_;  // changes of this decision
};

}  // namespace yard
