// How long will a job still run? Learned online from what was observed alone: jobs that ended, and
// jobs that go on, which say that a job like them lasts at least so long. Four layers, each the
// prior of the next: jobs of about its size, the last ones of these, its user's jobs, and its
// siblings, jobs of its user and size that were submitted about when it was: in recorded traces
// those end alike (correlation of log run times .8 to .96 within a minute).
// Dims: U users, S slots, G size classes, B bins.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "env/base/carver.h"
#include "env/predict/hazard.h"
#include "env/predict/job_size.h"
#include "env/predict/siblings.h"

namespace yard {

// How many jobs a layer counts for beside the one that is nearer to the job, bin by bin.
struct SurvivalWeights {
  float size_worth = 20;        // jobs of its size, beside the last ones of them
  float recent_worth = 3;       // these together, beside its user's
  float user_worth = 2;         // these together, beside its siblings
  float sibling = 8;            // what one sibling submitted at the same moment counts
  float sibling_apart_s = 120;  // at this distance half as much
};

class Survival {
 public:
  // `View`: env/sim/view.h.
  template <class View>
  static size_t bytes(const View& view) {
    const int32_t slots = view.capacity(), users = view.num_users();
    return 2 * Carver::bytes<HazardRow>(user_row(users)) +
           Carver::bytes<float>(kJobSizes * TimeBins::kBins) +
           Carver::bytes<Siblings>(kJobSizes + users) + Carver::bytes<Followed>(slots) +
           Carver::bytes<int32_t>(1);
  }

  // Requires: the same place in the memory every time, zero at first.
  template <class View>
  Survival(const View& view, Carver& carver)
      : over_(carver.take<HazardRow>(user_row(view.num_users()))),
        alive_(carver.take<HazardRow>(user_row(view.num_users()))),
        by_size_(carver.take<float>(kJobSizes * TimeBins::kBins)),
        siblings_(carver.take<Siblings>(kJobSizes + view.num_users())),
        followed_(carver.take<Followed>(view.capacity())),
        ready_(carver.take<int32_t>(1)) {}

  // Learns from what happened since the last decision. To be called at every decision.
  template <class View>
  void follow(const View& view) {
    const bool first = *ready_ == 0;
    for (int32_t i = 0; i < view.num_changed(); ++i) {
      const int32_t slot = view.changed(i);
      // A slot that begins anew, or one whose job is told of for the first time.
      if (view.started(slot) == 0 && !view.finished(slot)) followed_[slot] = {};
      if (view.attained_us(slot) > 0 || view.finished(slot)) pass(view, slot);
      if (view.finished(slot)) end(view, slot);
    }
    for (int32_t i = 0; i < view.num_held(); ++i) pass(view, view.held(i));
    if (first || !news_.empty()) blend_sizes();
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
  static bool near(const View& view, int32_t slot, const News& news,
                   const SurvivalWeights& weights) {
    const int64_t apart_us = view.submit_us(slot) - news.submit_us;
    const int64_t far_us = far_us_of(weights);
    return news.user == view.user(slot) && news.gpus == view.gpus(slot) && apart_us <= far_us &&
           -apart_us <= far_us;
  }

  // (B) chances to end in each bin, by the job's size alone.
  template <class View>
  const float* size_hazards(const View& view, int32_t slot) const {
    return by_size_ + job_size(view.gpus(slot)) * TimeBins::kBins;
  }

  // Writes the chance to end in each bin (B) from the one on in which the job is now; those before
  // it are not written. Requires: the slot is live.
  template <class View>
  void hazards(const View& view, int32_t slot, const SurvivalWeights& weights, float* out) const {
    const int64_t attained_us = view.attained_us(slot);
    const int32_t from = TimeBins::of_us(attained_us);
    float exposed[TimeBins::kBins + 1], ended[TimeBins::kBins];
    for (int32_t b = from; b < TimeBins::kBins; ++b) exposed[b] = ended[b] = 0;
    look_at_siblings(view, slot, from, weights, exposed, ended);
    const int32_t user = view.user(slot);
    const float* size = size_hazards(view, slot);
    const int32_t own = user_row(user), recent = recent_row(job_size(view.gpus(slot)));
    float at_risk = 0;
    for (int32_t b = from; b < TimeBins::kBins; ++b) {
      float prior = blended(recent, b, weights.size_worth, size[b]);
      if (user >= 0) prior = blended(own, b, weights.recent_worth, prior);
      at_risk += exposed[b];
      out[b] = (ended[b] + weights.user_worth * prior) / (at_risk + weights.user_worth);
    }
  }

 private:
  static constexpr float kFirstChance = 0.15F;  // of every bin, before anything was seen
  static constexpr float kFirstWorth = 3;       // jobs that this counts for
  static constexpr float kAllWorth = 10;        // jobs of all sizes, beside those of one size
  // What a job that ends leaves of what was there before it: habits drift.
  static constexpr float kKeepAll = 1 - 1.0F / 8192, kKeepSize = 1 - 1.0F / 2048,
                         kKeepRecent = 1 - 1.0F / 32, kKeepUser = 1 - 1.0F / 64;

  // Beyond this distance siblings do not count: less than 1/50 of what those beside it do.
  static int64_t far_us_of(const SurvivalWeights& weights) {
    return static_cast<int64_t>(weights.sibling_apart_s * 7e6F);
  }

  // Row 0 is of all jobs; those of users are the last.
  static int32_t size_row(int32_t k) { return 1 + k; }
  static int32_t recent_row(int32_t k) { return 1 + kJobSizes + k; }
  static int32_t user_row(int32_t user) { return 1 + 2 * kJobSizes + user; }

  struct Followed {
    int32_t begun;    // whether it is among its siblings
    int32_t bins;     // that it has passed
    int64_t next_us;  // attained time at which it passes the next one
  };

  template <class View>
  Siblings& siblings(const View& view, int32_t slot) const {
    const int32_t user = view.user(slot);
    return siblings_[user >= 0 ? kJobSizes + user : job_size(view.gpus(slot))];
  }

  static int64_t edge_us(int32_t bin) {
    return static_cast<int64_t>(exp2_coarse(TimeBins::log2_begin(bin)) * 1e6);
  }

  template <class View>
  void tell(const View& view, int32_t slot) {
    news_.push_back({view.submit_us(slot), view.user(slot), view.gpus(slot)});
  }

  template <class Does, class View>
  static void for_rows(const View& view, int32_t slot, Does does) {
    does(0, kKeepAll);
    does(size_row(job_size(view.gpus(slot))), kKeepSize);
    does(recent_row(job_size(view.gpus(slot))), kKeepRecent);
    if (view.user(slot) >= 0) does(user_row(view.user(slot)), kKeepUser);
  }

  // Counts the bins that a job has passed since it was last looked at, its first start too.
  template <class View>
  void pass(const View& view, int32_t slot) {
    Followed& followed = followed_[slot];
    if (followed.begun == 0) {
      followed = {1, 0, edge_us(1)};
      siblings(view, slot).enter(view.submit_us(slot), view.gpus(slot), slot);
      tell(view, slot);
    }
    const int64_t attained_us = view.attained_us(slot);
    while (attained_us >= followed.next_us && followed.bins < TimeBins::kBins - 1) {
      for_rows(view, slot, [&](int32_t r, float) { alive_[r].exposed[followed.bins] += 1; });
      followed.next_us = edge_us(++followed.bins + 1);
      tell(view, slot);
    }
  }

  // Moves a job from those alive to those over.
  template <class View>
  void end(const View& view, int32_t slot) {
    const int32_t bins = followed_[slot].bins;
    for_rows(view, slot, [&](int32_t r, float keep) {
      over_[r].fade(keep);
      for (int32_t b = 0; b < bins; ++b) {
        alive_[r].exposed[b] -= 1;
        over_[r].exposed[b] += 1;
      }
      over_[r].exposed[bins] += 1;
      over_[r].ended[bins] += 1;
    });
    siblings(view, slot).end(slot, bins);
    tell(view, slot);
    followed_[slot] = {};
  }

  // The chance that row `r` tells of, beside a prior that is worth so many jobs.
  float blended(int32_t r, int32_t b, float worth, float prior) const {
    return (over_[r].ended[b] + worth * prior) /
           (over_[r].exposed[b] + alive_[r].exposed[b] + worth);
  }

  void blend_sizes() {
    for (int32_t b = 0; b < TimeBins::kBins; ++b) {
      const float any = blended(0, b, kFirstWorth, kFirstChance);
      for (int32_t k = 0; k < kJobSizes; ++k) {
        by_size_[k * TimeBins::kBins + b] = blended(size_row(k), b, kAllWorth, any);
      }
    }
  }

  // Adds the weights of siblings by bin; those of `exposed` as differences.
  template <class View>
  void look_at_siblings(const View& view, int32_t slot, int32_t from,
                        const SurvivalWeights& weights, float* exposed, float* ended) const {
    const int64_t submit_us = view.submit_us(slot);
    const int32_t gpus = view.gpus(slot);
    const float per_us = 1e-6F / weights.sibling_apart_s;
    siblings(view, slot).near(submit_us, far_us_of(weights), [&](const Siblings::Begun& other) {
      if (other.gpus != gpus || other.slot == slot) return;
      const bool lives = other.slot >= 0;
      const int32_t bin = lives ? followed_[other.slot].bins : other.bin;
      if (bin < from) return;  // it says nothing of who has come further
      const float apart = static_cast<float>(submit_us - other.submit_us) * per_us;
      const float weight = weights.sibling / (1 + apart * apart);
      exposed[from] += weight;
      if (lives) {
        exposed[bin] -= weight;
      } else {
        ended[bin] += weight;
        exposed[bin + 1] -= weight;
      }
    });
  }

  HazardRow* over_;  // (1 + 2 G + U)  jobs that have ended: all, by size, the last by size, by user
  HazardRow* alive_;        // (1 + 2 G + U)  bins that the others have passed
  float* by_size_;          // (G, B)       hazards that a job's size lets expect
  Siblings* siblings_;      // (G + U)      by user, or by size where the trace names none
  Followed* followed_;      // (S)
  int32_t* ready_;          // (1)
  std::vector<News> news_;  // of this decision
};

}  // namespace yard
