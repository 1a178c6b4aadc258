// Waiting jobs ordered by a key that is constant while they wait. Each size class has a pairing
// heap (Fredman et al., "The Pairing Heap", Algorithmica 1986). A tournament tree over the classes
// finds the next job that fits without a scan of the queue. The columns are in a policy's memory;
// an event costs O(log queue + log classes). The columns depend on the request classes, so they are
// not part of Policy::kept_memory_bytes(). Dims: S slots, K classes, P the smallest power of two >=
// K.
#pragma once

#include <cstdint>

#include "env/sim/state/columns.h"
#include "env/sim/view/view.h"
#include "policies/memory.h"

namespace yard {

// Lower values go first; equal values in order of submission.
struct Key {
  double value = 0;
  int32_t serial = 0;
  friend bool operator<(const Key& a, const Key& b) {
    return a.value != b.value ? a.value < b.value : a.serial < b.serial;
  }
};

// A job with its key.
struct RankedJob {
  Key key;
  int32_t slot = kNone;
};

class RankedQueue {
 public:
  // `lanes`: number of classes per size, for policies where placements of equal jobs differ.
  static size_t bytes(const View& view, int32_t lanes = 1) {
    const int32_t slots = view.num_slots(), classes = view.num_request_classes() * lanes;
    return BumpAllocator::bytes<double>(slots) + 3 * BumpAllocator::bytes<int32_t>(slots) +
           BumpAllocator::bytes<int32_t>(classes) +
           BumpAllocator::bytes<int32_t>(2 * tournament_leaves(classes)) +
           BumpAllocator::bytes<int32_t>(1);
  }

  // Requires: `bump` gives the same memory at every decision, filled with zeros before the first.
  RankedQueue(const View& view, BumpAllocator& bump, int32_t lanes = 1)
      : value_(bump.allocate<double>(view.num_slots())),
        serial_(bump.allocate<int32_t>(view.num_slots())),
        child_(bump.allocate<int32_t>(view.num_slots())),
        sibling_(bump.allocate<int32_t>(view.num_slots())),
        root_(bump.allocate<int32_t>(view.num_request_classes() * lanes)),
        winner_(bump.allocate<int32_t>(2 * tournament_leaves(view.num_request_classes() * lanes))),
        lanes_(lanes),
        num_classes_(view.num_request_classes() * lanes),
        leaves_(tournament_leaves(num_classes_)) {
    int32_t* made = bump.allocate<int32_t>(1);
    if (*made == 0) {
      *made = 1;
      fresh_ = true;
      clear();
    }
  }

  // Returns the class of jobs of the request class `request_class` in lane `lane`.
  int32_t class_of(int32_t request_class, int32_t lane) const {
    return request_class * lanes_ + lane;
  }

  // Returns whether the memory was zero, so that the queue contains no jobs yet.
  bool was_just_created() const { return fresh_; }

  // Adds a job to `job_class`, and shows the class if it was hidden.
  void push(int32_t job_class, int32_t slot, Key key) {
    value_[slot] = key.value;
    serial_[slot] = key.serial;
    child_[slot] = kNone;
    root_[job_class] = meld(root_[job_class], slot);
    enter(job_class, job_class);
  }

  // Removes all jobs.
  void clear() {
    for (int32_t k = 0; k < num_classes_; ++k) root_[k] = kNone;
    for (int32_t i = 0; i < 2 * leaves_; ++i) winner_[i] = kNone;
  }

  int32_t top(int32_t k) const { return root_[k]; }
  Key key(int32_t slot) const { return {value_[slot], serial_[slot]}; }

  void pop(int32_t k) {
    // Two passes: meld neighbours in pairs, then the pairs from the last to the first.
    int32_t next = child_[root_[k]];
    int32_t pairs = kNone;
    while (next != kNone) {
      const int32_t a = next;
      const int32_t b = sibling_[a];
      next = b == kNone ? kNone : sibling_[b];
      const int32_t pair = meld(a, b);
      sibling_[pair] = pairs;
      pairs = pair;
    }
    int32_t root = kNone;
    while (pairs != kNone) {
      const int32_t rest = sibling_[pairs];
      root = meld(root, pairs);
      pairs = rest;
    }
    root_[k] = root;
    enter(k, root == kNone ? kNone : k);
  }

  // Returns the class of the first job in order among the classes that are not hidden and need at
  // most `gpus` GPUs, or kNone.
  int32_t first_fitting_class(const View& view, int32_t gpus) const {
    if (winner_[1] == kNone) return kNone;
    if (view.class_gpus_to_start(winner_[1] / lanes_) <= gpus) return winner_[1];
    int32_t end = 0;  // number of classes that are small enough; classes are sorted by GPUs
    for (int32_t step = leaves_; step > 0; step /= 2) {
      if (end + step > num_classes_) continue;
      if (view.class_gpus_to_start((end + step - 1) / lanes_) <= gpus) end += step;
    }
    int32_t best = kNone;
    for (int32_t i = leaves_ + end; i > 1; i /= 2) {
      if (i & 1) best = better_class(best, winner_[i - 1]);
    }
    return best;
  }

  // Hides a class from first_fitting_class(), because none of its jobs finds a placement.
  void hide_class(int32_t job_class) { enter(job_class, kNone); }
  void show(int32_t k) { enter(k, root_[k] == kNone ? kNone : k); }

 private:
  static int32_t tournament_leaves(int32_t classes) {
    int32_t n = 1;
    while (n < classes) n *= 2;
    return n;
  }

  int32_t better_class(int32_t a, int32_t b) const {
    if (a == kNone || b == kNone) return a == kNone ? b : a;
    return key(root_[b]) < key(root_[a]) ? b : a;
  }

  // Sets the leaf of class `k` in the tournament to `as`: k, or kNone if the class is empty or
  // hidden.
  void enter(int32_t k, int32_t as) {
    int32_t i = leaves_ + k;
    winner_[i] = as;
    for (i /= 2; i > 0; i /= 2) winner_[i] = better_class(winner_[2 * i], winner_[2 * i + 1]);
  }

  int32_t meld(int32_t a, int32_t b) {
    if (a == kNone) return b;
    if (b == kNone) return a;
    const int32_t first = key(a) < key(b) ? a : b;
    const int32_t other = first == a ? b : a;
    sibling_[other] = child_[first];
    child_[first] = other;
    return first;
  }

  double* value_;     // (S)
  int32_t* serial_;   // (S)
  int32_t* child_;    // (S)
  int32_t* sibling_;  // (S)  next sibling in the heap; undefined for a root
  int32_t* root_;     // (K)
  int32_t* winner_;   // (2 P)  classes; 1 is the root, P + k the leaf of class k
  int32_t lanes_;
  int32_t num_classes_;
  int32_t leaves_;  // P
  bool fresh_ = false;
};

}  // namespace yard
