// The jobs among which an agent chooses, in ascending order of an index. The agent's memory keeps
// the list between decisions, since it is cheap to sort an almost sorted list. Dims: S slots.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "env/base/core/log2.h"
#include "env/sim/view/view.h"

namespace yard {

// A job in the list. Jobs are sorted by key, then by submission; `order` holds both numbers.
struct Candidate {
  uint64_t order;
  int64_t submit_us;
  int32_t slot;
  int32_t user;
  int32_t gpus;
  int32_t ran;  // 1: the job has run before
  float log2_gpus;
  float log2_attained;        // log2 of attained seconds
  float log2_median;          // log2 of the predicted total run time in seconds
  float siblings;             // number of siblings (UserHistory::Prediction)
  float known;                // share of the user's own history in the prediction, 0 to 1
  int32_t residual_life_bin;  // index into the array RunTimeModel::life

  YARD_HD static uint64_t packed_sort_key(float key, int32_t serial) {
    uint32_t bits;
    memcpy(&bits, &key, sizeof bits);
    // Maps float order to integer order: flip all bits of negatives, the sign bit of the others.
    bits ^= static_cast<uint32_t>(static_cast<int32_t>(bits) >> 31) | 0x80000000u;
    return uint64_t{bits} << 32 | static_cast<uint32_t>(serial);
  }
  YARD_HD float key() const {
    auto bits = static_cast<uint32_t>(order >> 32);
    bits ^= static_cast<uint32_t>(static_cast<int32_t>(~bits) >> 31) | 0x80000000u;
    float key;
    memcpy(&key, &bits, sizeof key);
    return key;
  }
  YARD_HD int32_t serial() const { return static_cast<int32_t>(order); }
};

// Features of a job, computed when they are first used in a decision.
struct CachedFeatures {
  int32_t decision_number;  // number of the decision for which the features were computed
  float values[8];
};

// A view of memory that must be filled with zeros before the first decision.
class Candidates {
 public:
  YARD_HD static size_t bytes(int32_t slots) {
    const size_t a_slot = sizeof(Candidate) + sizeof(CachedFeatures) + 2 * sizeof(int32_t);
    return 16 + (static_cast<size_t>(slots) * a_slot + 7) / 8 * 8;
  }

  YARD_HD Candidates(std::byte* memory, int32_t slots)
      : size_(reinterpret_cast<int32_t*>(memory)),
        point_(size_ + 1),
        list_(reinterpret_cast<Candidate*>(memory + 16)),
        features_(reinterpret_cast<CachedFeatures*>(list_ + slots)),
        listed_(reinterpret_cast<int32_t*>(features_ + slots)),
        scratch_(listed_ + slots) {}

  YARD_HD int32_t size() const { return *size_; }
  YARD_HD const Candidate& operator[](int32_t i) const { return list_[i]; }

  // Scratch space for S slots; the next call of a member function overwrites its contents.
  YARD_HD int32_t* scratch() const { return scratch_; }

  // Returns the job's features; calls make(values) unless they are stored for this decision.
  template <class Make>
  YARD_HD const float* features(const Candidate& c, Make&& make) {
    CachedFeatures& f = features_[c.slot];
    if (f.decision_number != *point_) {
      f.decision_number = *point_;
      make(f.values);
    }
    return f.values;
  }

  // Begins a decision and returns the number of the decision, from 1.
  YARD_HD int32_t advance_decision_number() { return ++*point_; }

  // Adds jobs that started waiting and, with `with_holders`, jobs that hold GPUs or save a
  // checkpoint; drops all other jobs. Calls visit(candidate) for each job in the list.
  template <class Visit>
  YARD_HD void gather(const View& view, bool with_holders, Visit&& visit) {
    int32_t n = 0;
    for (int32_t i = 0; i < *size_; ++i) {
      Candidate& c = list_[i];
      const bool stays =
          view.serial(c.slot) == c.serial() && is_candidate_phase(view.phase(c.slot), with_holders);
      if (!stays) {
        listed_[c.slot] = 0;
        continue;
      }
      c.ran = view.times_started(c.slot) > 0;
      visit(c);
      if (n != i) list_[n] = c;
      ++n;
    }
    *size_ = n;
    if (n == (with_holders ? view.num_live() : view.num_waiting())) return;
    for (int32_t i = 0; with_holders && i < view.num_holders(); ++i)
      add(view, view.holder_slot(i), visit);
    for (int32_t slot = view.queue_head(); slot != kNone; slot = view.queue_next(slot)) {
      add(view, slot, visit);
    }
    // Jobs that save a checkpoint are in no list of the state, but they are among the changed jobs:
    // they held GPUs at the last scan, or this is the first scan, at which every job counts as
    // changed.
    for (int32_t i = 0; with_holders && i < view.num_changed(); ++i) {
      if (view.phase(view.changed_slot(i)) == Phase::kStopping)
        add(view, view.changed_slot(i), visit);
    }
  }

  // Recomputes every key by key_of(candidate) and sorts the candidates.
  template <class KeyOf>
  YARD_HD void rank(KeyOf&& key_of) {
    for (int32_t i = 0; i < *size_; ++i) {
      Candidate& c = list_[i];
      c.order = Candidate::packed_sort_key(key_of(c), c.serial());
    }
    // Insertion sort, fast if little has changed; after too many moves, Shell sort.
    int64_t moves = int64_t{kMoves} * *size_;
    if (shell_sort_pass(1, moves)) return;
    int32_t gap = 1;
    while (gap < *size_) gap = gap * 9 / 4 + 1;
    moves = INT64_MAX;
    for (; gap > 1; gap = gap * 4 / 9) shell_sort_pass(gap, moves);
    shell_sort_pass(1, moves);
  }

 private:
  static constexpr int32_t kMoves = 8;

  // One pass of Shell sort with the given gap. Returns false if it needs more than `moves_left`
  // moves.
  YARD_HD bool shell_sort_pass(int32_t gap, int64_t& moves_left) {
    for (int32_t i = gap; i < *size_; ++i) {
      if (list_[i - gap].order < list_[i].order) continue;
      const Candidate c = list_[i];
      int32_t k = i;
      for (; k >= gap && c.order < list_[k - gap].order; k -= gap) list_[k] = list_[k - gap];
      list_[k] = c;
      moves_left -= i - k;
      if (moves_left < 0) return false;
    }
    return true;
  }

  YARD_HD static bool is_candidate_phase(Phase phase, bool with_holders) {
    constexpr auto bit = [](Phase p) { return 1u << static_cast<unsigned>(p); };
    const unsigned held = bit(Phase::kRunning) | bit(Phase::kStarting) | bit(Phase::kStopping);
    const unsigned phases = bit(Phase::kWaiting) | (with_holders ? held : 0);
    return (phases & bit(phase)) != 0;
  }

  template <class Visit>
  YARD_HD void add(const View& view, int32_t slot, Visit&& visit) {
    if (listed_[slot] == 1) return;
    listed_[slot] = 1;
    Candidate& c = list_[(*size_)++];
    c.order = Candidate::packed_sort_key(0, view.serial(slot));
    c.submit_us = view.submit_us(slot);
    c.slot = slot;
    c.user = view.user(slot);
    c.ran = view.times_started(slot) > 0;
    c.gpus = view.gpus_at_least_one(slot);
    c.log2_gpus = log2_coarse(c.gpus);
    visit(c);
  }

  int32_t* size_;             // (1)
  int32_t* point_;            // (1)  number of decisions so far
  Candidate* list_;           // (S)
  CachedFeatures* features_;  // (S)
  int32_t* listed_;           // (S)  1: the slot's job is in the list
  int32_t* scratch_;          // (S)
};

}  // namespace yard
