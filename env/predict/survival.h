// How long will a job still run? Learned online from what was observed alone: of everybody who
// came as far as a bin of time, whether it ended there, at the moment at which that is seen. So
// jobs that still run count up to where they are (Kaplan and Meier, "Nonparametric Estimation from
// Incomplete Observations", JASA 1958), and in each bin the latest count most: habits drift.
// Layers, each the prior of the next: all jobs, those of about its size, the last ones of these,
// those of its limit, its user's of its size, those of its name, and its siblings, jobs of its user
// and size that were submitted about when it was: in recorded traces those end alike (correlation
// of log run times .8 to .96 within a minute). How much a layer counts is learned, too (worth.h).
// Where the level of information tells a job's limit, it ends the job.
// Dims: U users, A names, G size classes, B bins, L layers, E ages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "env/base/carver.h"
#include "env/predict/hazard.h"
#include "env/predict/job_size.h"
#include "env/predict/passings.h"
#include "env/predict/siblings.h"
#include "env/predict/worth.h"

namespace yard {

class Survival {
 public:
  // `View`: env/sim/view.h.
  template <class View>
  static size_t bytes(const View& view) {
    return Carver::bytes<HazardRow>(num_rows(view)) + Carver::bytes<Worth>(kLayers * kAges) +
           Carver::bytes<float>(kJobSizes * TimeBins::kBins) +
           2 * Carver::bytes<EndPlaces>(kJobSizes) +
           Carver::bytes<Siblings>(kJobSizes + view.num_users()) + Passings::bytes(view) +
           Carver::bytes<int32_t>(1);
  }

  // Requires: the same place in the memory every time, zero at first.
  template <class View>
  Survival(const View& view, Carver& carver)
      : num_users_(view.num_users()),
        rows_(carver.take<HazardRow>(num_rows(view))),
        worths_(carver.take<Worth>(kLayers * kAges)),
        by_size_(carver.take<float>(kJobSizes * TimeBins::kBins)),
        ended_in_(carver.take<EndPlaces>(kJobSizes)),
        places_(carver.take<EndPlaces>(kJobSizes)),
        siblings_(carver.take<Siblings>(kJobSizes + view.num_users())),
        passings_(view, carver),
        ready_(carver.take<int32_t>(1)) {}

  // Learns from what happened since the last decision. To be called at every decision.
  template <class View>
  void follow(const View& view) {
    if (*ready_ == 0) {
      for (int32_t i = 0; i < kLayers * kAges; ++i) worths_[i] = Worth();
    }
    passings_.look(view);
    judge(view);
    learn(view);
    meet(view);
    passings_.advance(view);
    if (*ready_ == 0 || !passings_.passings().empty()) blend_sizes();
    *ready_ = 1;
  }

  // Who began, passed a bin or ended since the last decision: what is expected of those submitted
  // about when it was, of its user and size, may have changed.
  struct News {
    int64_t submit_us;
    int32_t user, gpus;
  };
  const std::vector<News>& news() const { return news_; }

  // Does what happened to somebody matter to this job's siblings' part?
  template <class View>
  static bool near(const View& view, int32_t slot, const News& news) {
    const int64_t apart_us = view.submit_us(slot) - news.submit_us;
    return news.user == view.user(slot) && news.gpus == view.gpus(slot) && apart_us <= kFarUs &&
           -apart_us <= kFarUs;
  }

  // The attained time at which its limit ends a job; kUnlimitedUs where none is told, or it is
  // passed.
  template <class View>
  static int64_t until_us(const View& view, int32_t slot) {
    const int64_t limit_us = told_limit_us(view, slot);
    return limit_us > view.attained_us(slot) ? limit_us : kUnlimitedUs;
  }

  // (B) chances to end in each bin, by the job's size alone.
  template <class View>
  const float* size_hazards(const View& view, int32_t slot) const {
    return by_size_ + job_size(view.gpus(slot)) * TimeBins::kBins;
  }

  // Where in a bin jobs of its size end.
  template <class View>
  const EndPlaces& places(const View& view, int32_t slot) const {
    return places_[job_size(view.gpus(slot))];
  }

  // Writes the chance to end in each bin (B) from the one on in which the job is now, were there no
  // limit; those before it are not written. Requires: the slot is live.
  template <class View>
  void hazards(const View& view, int32_t slot, float* out) const {
    const int32_t from = TimeBins::of_us(view.attained_us(slot));
    const float* size = size_hazards(view, slot);
    for (int32_t b = from; b < TimeBins::kBins; ++b) out[b] = size[b];
    for_rows(view, slot, [&](Layer layer, const HazardRow& row) {
      if (layer > kSizes) blend(layer, row.exposed, row.ended, from, out);
    });
    float exposed[TimeBins::kBins + 1] = {}, ended[TimeBins::kBins] = {};
    for_siblings(view, slot, [&](float weight, int32_t bin, bool ends) {
      if (bin < from) return;  // it says nothing of who has come further
      exposed[from] += weight;
      if (ends) ended[bin] += weight;
      exposed[ends ? bin + 1 : bin] -= weight;
    });
    for (int32_t b = from + 1; b < TimeBins::kBins; ++b) exposed[b] += exposed[b - 1];
    blend(kSiblings, exposed, ended, from, out);
  }

 private:
  enum Layer : int32_t { kAll, kSizes, kRecent, kLimits, kUsers, kNames, kSiblings, kLayers };

  static constexpr float kFirstChance = 0.075F;  // of every bin, before anything was seen
  // What an observation in a bin leaves of those before it, by layer.
  static constexpr float kKeep[kSiblings] = {1 - 1.0F / 8192, 1 - 1.0F / 2048, 1 - 1.0F / 32,
                                             1 - 1.0F / 512,  1 - 1.0F / 64,   1 - 1.0F / 32};
  static constexpr float kKeepPlaces = 1 - 1.0F / 64;
  static constexpr float kEven = 2;  // jobs that count as having ended evenly over a bin
  // What a layer is worth is learned by age: who has run for days has few like it.
  static constexpr int32_t kAge = 3 * TimeBins::kPerOctave, kAges = TimeBins::kBins / kAge;
  // At the distance kApartUs a sibling counts half; beyond kFarUs, less than 1/50, not at all.
  static constexpr int64_t kApartUs = 120'000'000, kFarUs = 7 * kApartUs;

  template <class View>
  static int64_t num_rows(const View& view) {
    return 1 + 2 * kJobSizes + TimeBins::kBins + int64_t{view.num_users()} * kUserSizes +
           view.num_names();
  }

  // Calls does(layer, row) for the rows that tell of a job, from the widest to the narrowest.
  template <class View, class Does>
  void for_rows(const View& view, int32_t slot, const Does& does) const {
    const int32_t size = job_size(view.gpus(slot)), user = view.user(slot), name = view.name(slot);
    HazardRow* row = rows_;
    does(kAll, *row++);
    does(kSizes, row[size]);
    does(kRecent, row[kJobSizes + size]);
    row += 2 * kJobSizes;
    if (const int64_t limit_us = told_limit_us(view, slot); limit_us > 0) {
      does(kLimits, row[TimeBins::of_us(limit_us)]);
    }
    row += TimeBins::kBins;
    if (user >= 0) does(kUsers, row[int64_t{user} * kUserSizes + user_size(view.gpus(slot))]);
    row += int64_t{num_users_} * kUserSizes;
    if (name >= 0) does(kNames, row[name]);
  }

  template <class View>
  Siblings& siblings(const View& view, int32_t slot) const {
    const int32_t user = view.user(slot);
    return siblings_[user >= 0 ? kJobSizes + user : job_size(view.gpus(slot))];
  }

  // Calls does(weight, bin, ends) for the siblings of a job: the bin in which each is, or was last,
  // and whether it ended in it.
  template <class View, class Does>
  void for_siblings(const View& view, int32_t slot, const Does& does) const {
    const int64_t submit_us = view.submit_us(slot);
    const int32_t gpus = view.gpus(slot);
    siblings(view, slot).near(submit_us, kFarUs, [&](const Siblings::Begun& other) {
      if (other.gpus != gpus || other.slot == slot) return;
      const float apart = static_cast<float>(submit_us - other.submit_us) * (1.0F / kApartUs);
      does(1 / (1 + apart * apart), other.slot >= 0 ? passings_.bin(other.slot) : other.bin,
           other.ended != 0);
    });
  }

  // Takes a layer into the hazards `out` (B) from a bin on. Its worth changes with the age alone:
  // the loop within one is left to the compiler's vectors.
  void blend(Layer layer, const float* exposed, const float* ended, int32_t from,
             float* out) const {
    for (int32_t age = from / kAge; age < kAges; ++age) {
      const float jobs = worths_[layer * kAges + age].jobs;
      for (int32_t b = age * kAge > from ? age * kAge : from; b < (age + 1) * kAge; ++b) {
        out[b] = blended(exposed[b], ended[b], jobs, out[b]);
      }
    }
  }

  float worth(Layer layer, int32_t b) const { return worths_[layer * kAges + b / kAge].jobs; }

  // What each worth of each layer would have foretold of what was seen.
  template <class View>
  void judge(const View& view) {
    if (passings_.passings().empty()) return;
    WorthNews news[kLayers * kAges];
    for (const Passing& p : passings_.passings()) {
      if (p.by_limit()) continue;
      float chance = kFirstChance;
      const auto ask = [&](Layer layer, float exposed, float ended) {
        news[layer * kAges + p.bin / kAge].add(exposed, ended, chance, p.ended);
        chance = blended(exposed, ended, worth(layer, p.bin), chance);
      };
      for_rows(view, p.slot, [&](Layer layer, const HazardRow& row) {
        ask(layer, row.exposed[p.bin], row.ended[p.bin]);
      });
      float exposed = 0, ended = 0;
      for_siblings(view, p.slot, [&](float weight, int32_t bin, bool ends) {
        if (bin > p.bin || (bin == p.bin && ends)) exposed += weight;
        if (bin == p.bin && ends) ended += weight;
      });
      ask(kSiblings, exposed, ended);
    }
    for (int32_t i = 0; i < kLayers * kAges; ++i) news[i].learn(worths_[i]);
  }

  // First all that was there counts for less, then what is new is added: in no order.
  template <class View>
  void learn(const View& view) {
    for (const Passing& p : passings_.passings()) {
      for_rows(view, p.slot, [&](Layer layer, HazardRow& row) { row.fade(p.bin, kKeep[layer]); });
      if (p.ended) ended_in_[job_size(view.gpus(p.slot))].fade(p.bin, kKeepPlaces);
    }
    for (const Passing& p : passings_.passings()) {
      for_rows(view, p.slot, [&](Layer, HazardRow& row) {
        row.exposed[p.bin] += p.ended ? 1 : p.part;
        row.ended[p.bin] += p.ended ? 1 : 0;
      });
      if (p.ended) ended_in_[job_size(view.gpus(p.slot))].add(p.bin, p.part);
    }
  }

  // Takes in siblings that began, and those that ended.
  template <class View>
  void meet(const View& view) {
    for (const Passings::Moved& m : passings_.moved()) {
      Siblings& beside = siblings(view, m.slot);
      if (m.begins) beside.enter(view.submit_us(m.slot), view.gpus(m.slot), m.slot);
      if (view.finished(m.slot)) beside.end(m.slot, m.bins, m.ended);
      news_.push_back({view.submit_us(m.slot), view.user(m.slot), view.gpus(m.slot)});
    }
  }

  void blend_sizes() {
    for (int32_t b = 0; b < TimeBins::kBins; ++b) {
      const float any =
          blended(rows_[0].exposed[b], rows_[0].ended[b], worth(kAll, b), kFirstChance);
      for (int32_t k = 0; k < kJobSizes; ++k) {
        const HazardRow& row = rows_[1 + k];
        by_size_[k * TimeBins::kBins + b] =
            blended(row.exposed[b], row.ended[b], worth(kSizes, b), any);
        places_[k].blend(ended_in_[k], b, kEven);
      }
    }
  }

  int32_t num_users_;
  HazardRow* rows_;  // (1 + 2 G + B + 4 U + A)  all, sizes, their last, limits, users' sizes, names
  Worth* worths_;    // (L, E)
  float* by_size_;   // (G, B)  hazards that a job's size lets expect
  EndPlaces* ended_in_;  // (G)     how many ended where
  EndPlaces* places_;    // (G)     the shares that follow
  Siblings* siblings_;   // (G + U) by user, or by size where the trace names none
  Passings passings_;
  int32_t* ready_;          // (1)
  std::vector<News> news_;  // of this decision
};

}  // namespace yard
