// Waiting jobs ordered by a key that stays put while they wait: one pairing heap a size class, as
// columns of a policy's memory, so that an event costs O(log queue) and "the next that fits" is
// found without a walk. (Fredman et al., "The Pairing Heap", Algorithmica 1986.) Dims: S slots, K
// size classes.
#pragma once

#include <cstdint>
#include <span>

#include "env/sim/columns.h"
#include "env/sim/view.h"
#include "policies/memory.h"

namespace yard {

// Lower goes first; equal keys in order of submission.
struct Key {
  double value = 0;
  int32_t serial = 0;
  friend bool operator<(const Key& a, const Key& b) {
    return a.value != b.value ? a.value < b.value : a.serial < b.serial;
  }
};

class Ranked {
 public:
  static size_t bytes(const View& view) {
    const int32_t slots = view.capacity();
    return Carver::bytes<double>(slots) + 3 * Carver::bytes<int32_t>(slots) +
           Carver::bytes<int32_t>(view.num_classes()) + Carver::bytes<int32_t>(1);
  }

  // Requires: the same place in the memory every time.
  Ranked(const View& view, Carver& carver)
      : value_(carver.take<double>(view.capacity())),
        serial_(carver.take<int32_t>(view.capacity())),
        child_(carver.take<int32_t>(view.capacity())),
        sibling_(carver.take<int32_t>(view.capacity())),
        root_(carver.take<int32_t>(view.num_classes())),
        num_classes_(view.num_classes()) {
    int32_t* made = carver.take<int32_t>(1);
    if (*made == 0) {
      *made = 1;
      for (int32_t k = 0; k < num_classes_; ++k) root_[k] = kNone;
    }
  }

  void push(int32_t k, int32_t slot, Key key) {
    value_[slot] = key.value;
    serial_[slot] = key.serial;
    child_[slot] = sibling_[slot] = kNone;
    root_[k] = meld(root_[k], slot);
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
      sibling_[a] = kNone;
      if (b != kNone) sibling_[b] = kNone;
      const int32_t pair = meld(a, b);
      sibling_[pair] = pairs;
      pairs = pair;
    }
    int32_t root = kNone;
    while (pairs != kNone) {
      const int32_t rest = sibling_[pairs];
      sibling_[pairs] = kNone;
      root = meld(root, pairs);
      pairs = rest;
    }
    root_[k] = root;
  }

  // Returns the class whose first job goes first among those of at most `gpus` GPUs, or kNone.
  // `skip` (K), or empty: classes to pass over.
  int32_t first_class(const View& view, int32_t gpus, std::span<const char> skip = {}) const {
    int32_t best = kNone;
    for (int32_t k = 0; k < num_classes_ && view.class_gpus(k) <= gpus; ++k) {
      if (root_[k] == kNone || (!skip.empty() && skip[static_cast<size_t>(k)])) continue;
      if (best == kNone || key(root_[k]) < key(root_[best])) best = k;
    }
    return best;
  }

 private:
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
  int32_t* sibling_;  // (S)
  int32_t* root_;     // (K)
  int32_t num_classes_;
};

}  // namespace yard
