// Survival model of run times, learned online from the bins that jobs pass and end in. Running jobs
// count up to their present bin (Kaplan and Meier, "Nonparametric Estimation from Incomplete
// Observations", JASA 1958). Recent observations count more, since habits drift.
// Each layer is the prior of the next: all jobs; the size class; the latest jobs of the class; the
// limit; user and size; name; siblings. LatestStartedJobs are jobs of one user and size submitted
// at about the same time: within a minute, their log run times correlate 0.8 to 0.96 in recorded
// traces. Prior strengths are learned (prior_strength.h). A visible limit ends the job. Dims: U
// users, A names, G size classes, B bins, L layers, E ages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "env/base/core/bump_allocator.h"
#include "env/predict/hazard.h"
#include "env/predict/hazard_events.h"
#include "env/predict/job_size.h"
#include "env/predict/prior_strength.h"
#include "env/predict/siblings.h"

namespace yard {

class Survival {
 public:
  // `View`: env/sim/view/view.h.
  template <class View>
  static size_t bytes(const View& view) {
    return BumpAllocator::bytes<HazardCounts>(num_rows(view)) +
           BumpAllocator::bytes<PriorStrength>(kLayers * kAges) +
           BumpAllocator::bytes<float>(kJobSizes * TimeBins::kBins) +
           2 * BumpAllocator::bytes<EndsWithinBin>(kJobSizes) +
           BumpAllocator::bytes<LatestStartedJobs>(kJobSizes + view.num_users()) +
           HazardEvents::bytes(view) + BumpAllocator::bytes<int32_t>(1);
  }

  // Requires: `bump` gives the same memory at every decision, filled with zeros before the first.
  template <class View>
  Survival(const View& view, BumpAllocator& bump)
      : num_users_(view.num_users()),
        rows_(bump.allocate<HazardCounts>(num_rows(view))),
        prior_strengths_(bump.allocate<PriorStrength>(kLayers * kAges)),
        by_size_(bump.allocate<float>(kJobSizes * TimeBins::kBins)),
        end_counts_(bump.allocate<EndsWithinBin>(kJobSizes)),
        ends_within_bin_(bump.allocate<EndsWithinBin>(kJobSizes)),
        siblings_(bump.allocate<LatestStartedJobs>(kJobSizes + view.num_users())),
        events_(view, bump),
        ready_(bump.allocate<int32_t>(1)) {}

  // Learns from what happened since the last decision. Must be called at every decision.
  template <class View>
  void on_events(const View& view) {
    if (*ready_ == 0) {
      for (int32_t i = 0; i < kLayers * kAges; ++i) prior_strengths_[i] = PriorStrength();
    }
    events_.scan(view);
    update_prior_strengths(view);
    learn(view);
    update_siblings(view);
    events_.advance(view);
    if (*ready_ == 0 || !events_.events().empty()) blend_sizes();
    *ready_ = 1;
  }

  // A job that started, passed a bin or ended. Predictions may have changed for its siblings.
  struct Change {
    int64_t submit_us;
    int32_t user, gpus;
  };
  const std::vector<Change>& changes() const { return changes_; }

  // Returns whether the event affects the siblings' layer of this job.
  template <class View>
  static bool near(const View& view, int32_t slot, const Change& changes) {
    const int64_t apart_us = view.submit_us(slot) - changes.submit_us;
    return changes.user == view.user(slot) && changes.gpus == view.gpus(slot) &&
           apart_us <= kFarUs && -apart_us <= kFarUs;
  }

  // Returns the job's limit of attained time; kUnlimitedUs if the limit is hidden, unset or passed.
  template <class View>
  static int64_t until_us(const View& view, int32_t slot) {
    const int64_t limit_us = visible_limit_us(view, slot);
    return limit_us > view.attained_us(slot) ? limit_us : kUnlimitedUs;
  }

  // Returns (B) hazards by the job's size class alone.
  template <class View>
  const float* size_hazards(const View& view, int32_t slot) const {
    return by_size_ + gpu_size_bucket(view.gpus(slot)) * TimeBins::kBins;
  }

  // Returns where within a bin jobs of its size class end.
  template <class View>
  const EndsWithinBin& ends_within_bin(const View& view, int32_t slot) const {
    return ends_within_bin_[gpu_size_bucket(view.gpus(slot))];
  }

  // Writes the job's hazards (B), ignoring its limit, from its present bin on; earlier entries are
  // left unwritten. Requires: the slot is live.
  template <class View>
  void hazards(const View& view, int32_t slot, float* out) const {
    const int32_t from = TimeBins::of_us(view.attained_us(slot));
    const float* size = size_hazards(view, slot);
    for (int32_t b = from; b < TimeBins::kBins; ++b) out[b] = size[b];
    for_each_applicable_row(view, slot, [&](Layer layer, const HazardCounts& row) {
      if (layer > kSizes) blend(layer, row.exposed, row.ended, from, out);
    });
    float exposed[TimeBins::kBins + 1] = {}, ended[TimeBins::kBins] = {};
    for_each_sibling(view, slot, [&](float weight, int32_t bin, bool ends) {
      if (bin < from) return;  // it ended earlier: not exposed to these bins
      exposed[from] += weight;
      if (ends) ended[bin] += weight;
      exposed[ends ? bin + 1 : bin] -= weight;
    });
    for (int32_t b = from + 1; b < TimeBins::kBins; ++b) exposed[b] += exposed[b - 1];
    blend(kSiblings, exposed, ended, from, out);
  }

 private:
  enum Layer : int32_t { kAll, kSizes, kRecent, kLimits, kUsers, kNames, kSiblings, kLayers };

  static constexpr float kFirstChance = 0.075F;  // hazard of every bin before any observation
  // Decay of earlier observations in a bin per observation, by layer.
  static constexpr float kKeep[kSiblings] = {1 - 1.0F / 8192, 1 - 1.0F / 2048, 1 - 1.0F / 32,
                                             1 - 1.0F / 512,  1 - 1.0F / 64,   1 - 1.0F / 32};
  static constexpr float kKeepPlaces = 1 - 1.0F / 64;
  static constexpr float kEven = 2;  // pseudo-observations of ends spread evenly over a bin
  // Prior strengths are learned by age: few jobs resemble one that has run for days.
  static constexpr int32_t kAge = 3 * TimeBins::kPerOctave, kAges = TimeBins::kBins / kAge;
  // A sibling at distance kApartUs counts half; beyond kFarUs (less than 1/50) it is ignored.
  static constexpr int64_t kApartUs = 120'000'000, kFarUs = 7 * kApartUs;

  template <class View>
  static int64_t num_rows(const View& view) {
    return 1 + 2 * kJobSizes + TimeBins::kBins + int64_t{view.num_users()} * kUserSizes +
           view.num_job_names();
  }

  // Calls does(layer, row) for the rows that apply to a job, from the widest to the narrowest.
  template <class View, class Does>
  void for_each_applicable_row(const View& view, int32_t slot, const Does& does) const {
    const int32_t size = gpu_size_bucket(view.gpus(slot)), user = view.user(slot),
                  name = view.name(slot);
    HazardCounts* row = rows_;
    does(kAll, *row++);
    does(kSizes, row[size]);
    does(kRecent, row[kJobSizes + size]);
    row += 2 * kJobSizes;
    if (const int64_t limit_us = visible_limit_us(view, slot); limit_us > 0) {
      does(kLimits, row[TimeBins::of_us(limit_us)]);
    }
    row += TimeBins::kBins;
    if (user >= 0)
      does(kUsers, row[int64_t{user} * kUserSizes + coarse_gpu_size_bucket(view.gpus(slot))]);
    row += int64_t{num_users_} * kUserSizes;
    if (name >= 0) does(kNames, row[name]);
  }

  template <class View>
  LatestStartedJobs& siblings(const View& view, int32_t slot) const {
    const int32_t user = view.user(slot);
    return siblings_[user >= 0 ? kJobSizes + user : gpu_size_bucket(view.gpus(slot))];
  }

  // Calls does(weight, bin reached, whether ended there) for each sibling of the job.
  template <class View, class Does>
  void for_each_sibling(const View& view, int32_t slot, const Does& does) const {
    const int64_t submit_us = view.submit_us(slot);
    const int32_t gpus = view.gpus(slot);
    siblings(view, slot).near(submit_us, kFarUs, [&](const LatestStartedJobs::Sibling& other) {
      if (other.gpus != gpus || other.slot == slot) return;
      const float apart = static_cast<float>(submit_us - other.submit_us) * (1.0F / kApartUs);
      does(1 / (1 + apart * apart), other.slot >= 0 ? events_.bin(other.slot) : other.bin,
           other.ended != 0);
    });
  }

  // Blends a layer into the hazards `out` (B) from a bin on. The inner loop vectorises.
  void blend(Layer layer, const float* exposed, const float* ended, int32_t from,
             float* out) const {
    for (int32_t age = from / kAge; age < kAges; ++age) {
      const float jobs = prior_strengths_[layer * kAges + age].jobs;
      for (int32_t b = age * kAge > from ? age * kAge : from; b < (age + 1) * kAge; ++b) {
        out[b] = posterior_hazard(exposed[b], ended[b], jobs, out[b]);
      }
    }
  }

  float prior_strength(Layer layer, int32_t b) const {
    return prior_strengths_[layer * kAges + b / kAge].jobs;
  }

  // Updates the prior strengths: how well would each choice have predicted the events?
  template <class View>
  void update_prior_strengths(const View& view) {
    if (events_.events().empty()) return;
    PriorStrengthUpdate changes[kLayers * kAges];
    for (const HazardEvent& p : events_.events()) {
      if (p.by_limit()) continue;
      float chance = kFirstChance;
      const auto score_layer = [&](Layer layer, float exposed, float ended) {
        changes[layer * kAges + p.bin / kAge].add(exposed, ended, chance, p.ended);
        chance = posterior_hazard(exposed, ended, prior_strength(layer, p.bin), chance);
      };
      for_each_applicable_row(view, p.slot, [&](Layer layer, const HazardCounts& row) {
        score_layer(layer, row.exposed[p.bin], row.ended[p.bin]);
      });
      float exposed = 0, ended = 0;
      for_each_sibling(view, p.slot, [&](float weight, int32_t bin, bool ends) {
        if (bin > p.bin || (bin == p.bin && ends)) exposed += weight;
        if (bin == p.bin && ends) ended += weight;
      });
      score_layer(kSiblings, exposed, ended);
    }
    for (int32_t i = 0; i < kLayers * kAges; ++i) changes[i].learn(prior_strengths_[i]);
  }

  // Decays all affected rows before adding any event, so that the order of events does not matter.
  template <class View>
  void learn(const View& view) {
    for (const HazardEvent& p : events_.events()) {
      for_each_applicable_row(
          view, p.slot, [&](Layer layer, HazardCounts& row) { row.decay(p.bin, kKeep[layer]); });
      if (p.ended) end_counts_[gpu_size_bucket(view.gpus(p.slot))].decay(p.bin, kKeepPlaces);
    }
    for (const HazardEvent& p : events_.events()) {
      for_each_applicable_row(view, p.slot, [&](Layer, HazardCounts& row) {
        row.exposed[p.bin] += p.ended ? 1 : p.part;
        row.ended[p.bin] += p.ended ? 1 : 0;
      });
      if (p.ended) end_counts_[gpu_size_bucket(view.gpus(p.slot))].add(p.bin, p.part);
    }
  }

  // Records siblings that started and those that ended.
  template <class View>
  void update_siblings(const View& view) {
    for (const HazardEvents::JobProgress& m : events_.progress()) {
      LatestStartedJobs& sibling_jobs = siblings(view, m.slot);
      if (m.begins) sibling_jobs.enter(view.submit_us(m.slot), view.gpus(m.slot), m.slot);
      if (view.finished(m.slot)) sibling_jobs.end(m.slot, m.bins, m.ended);
      changes_.push_back({view.submit_us(m.slot), view.user(m.slot), view.gpus(m.slot)});
    }
  }

  void blend_sizes() {
    for (int32_t b = 0; b < TimeBins::kBins; ++b) {
      const float any = posterior_hazard(rows_[0].exposed[b], rows_[0].ended[b],
                                         prior_strength(kAll, b), kFirstChance);
      for (int32_t k = 0; k < kJobSizes; ++k) {
        const HazardCounts& row = rows_[1 + k];
        by_size_[k * TimeBins::kBins + b] =
            posterior_hazard(row.exposed[b], row.ended[b], prior_strength(kSizes, b), any);
        ends_within_bin_[k].blend(end_counts_[k], b, kEven);
      }
    }
  }

  int32_t num_users_;
  HazardCounts* rows_;  // (1 + 2 G + B + 4 U + A)  all, sizes, recent, limits, user sizes, names
  PriorStrength* prior_strengths_;  // (L, E)
  float* by_size_;                  // (G, B)  hazards by size class
  EndsWithinBin* end_counts_;       // (G)     numbers of ends by cell
  EndsWithinBin* ends_within_bin_;  // (G)     shares computed from these
  LatestStartedJobs* siblings_;  // (G + U) by user, or by size class where the trace has no users
  HazardEvents events_;
  int32_t* ready_;               // (1)
  std::vector<Change> changes_;  // of this decision
};

}  // namespace yard
