// Jobs that hold GPUs, ordered by a key that is linear in time, such as the time left. Keys that
// fall at the same rate never cross, so each rate has its own treap (Seidel and Aragon, "Randomized
// Search Trees", 1996). A walk from the last job in order merges the treaps. The arrays lie in a
// policy's memory; adding, changing or removing a job costs O(log jobs). Dims: S slots.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "env/sim/state/columns.h"
#include "env/sim/view/view.h"
#include "policies/memory.h"
#include "policies/ranked_queue.h"

namespace yard {

// Returns how long the job's GPUs do no work because of a preemption: to save and to restore it.
inline int64_t save_and_restore_us(const View& view, int32_t slot) {
  return view.preemption_costs().save_us + view.preemption_costs().restore(view.gpus(slot));
}

class LinearKeyTreap {
 public:
  // `slots`: slots are in [0, slots).
  static size_t bytes(int32_t slots) {
    return 2 * BumpAllocator::bytes<double>(slots) + 5 * BumpAllocator::bytes<int32_t>(slots) +
           BumpAllocator::bytes<int32_t>(1);
  }

  // Requires: `bump` gives the same memory at every decision, filled with zeros before the first.
  LinearKeyTreap(int32_t slots, BumpAllocator& bump)
      : at_zero_(bump.allocate<double>(slots)),
        per_us_(bump.allocate<double>(slots)),
        serial_(bump.allocate<int32_t>(slots)),
        left_(bump.allocate<int32_t>(slots)),
        right_(bump.allocate<int32_t>(slots)),
        tree_(bump.allocate<int32_t>(slots)),
        root_(bump.allocate<int32_t>(slots)),
        num_trees_(bump.allocate<int32_t>(1)) {}

  // Inserts a job, or moves it if its line or serial changed.
  void put(int32_t slot, const LinearDecrease& line, int32_t serial) {
    if (tree_[slot] != 0) {
      if (per_us_[tree_[slot] - 1] == line.per_us && at_zero_[slot] == line.at_zero &&
          serial_[slot] == serial) {
        return;
      }
      remove(slot);
    }
    int32_t t = 0;
    while (t < *num_trees_ && per_us_[t] != line.per_us) ++t;
    if (t == *num_trees_) {
      per_us_[t] = line.per_us;
      root_[t] = kNone;
      ++*num_trees_;
    }
    at_zero_[slot] = line.at_zero;
    serial_[slot] = serial;
    tree_[slot] = t + 1;
    int32_t* at = &root_[t];
    while (*at != kNone && priority(*at) > priority(slot)) at = child(*at, slot);
    split(*at, slot, left_[slot], right_[slot]);
    *at = slot;
  }

  // Removes a job. Does nothing if the job is absent.
  void remove(int32_t slot) {
    if (tree_[slot] == 0) return;
    const int32_t t = tree_[slot] - 1;
    tree_[slot] = 0;
    int32_t* at = &root_[t];
    while (*at != slot) at = child(*at, slot);
    *at = merge(left_[slot], right_[slot]);
    if (root_[t] != kNone) return;
    // The last tree takes the index of the empty one.
    const int32_t last = --*num_trees_;
    if (t == last) return;
    per_us_[t] = per_us_[last];
    root_[t] = root_[last];
    set_tree_index_of_subtree(root_[t], t + 1);
  }

  bool has(int32_t slot) const { return tree_[slot] != 0; }

  // line() and key() require has(slot).
  LinearDecrease line(int32_t slot) const { return {at_zero_[slot], per_us_[tree_[slot] - 1]}; }
  Key key(int32_t slot, int64_t now_us) const { return {line(slot).at(now_us), serial_[slot]}; }

  // Returns the last slot in order, or kNone if there is none.
  int32_t last(int64_t now_us) const {
    int32_t last = kNone;
    for (int32_t t = 0; t < *num_trees_; ++t) {
      int32_t slot = root_[t];
      while (right_[slot] != kNone) slot = right_[slot];
      if (last == kNone || key(last, now_us) < key(slot, now_us)) last = slot;
    }
    return last;
  }

  // Iterates from the last in order to the first. Valid until the next put() or remove().
  class Walk {
   public:
    Walk(const LinearKeyTreap& order, int64_t now_us) : order_(order), now_us_(now_us) {
      heads_.resize(static_cast<size_t>(*order.num_trees_));
      for (int32_t t = 0; t < *order.num_trees_; ++t) {
        Head& head = heads_[static_cast<size_t>(t)];
        head.per_us = order.per_us_[t];
        descend_to_last(head, order.root_[t]);
      }
      std::make_heap(heads_.begin(), heads_.end(), before);
    }

    // Returns the next job. Its slot is kNone after the first in order.
    RankedJob next() {
      if (heads_.empty()) return {};
      Head& last = heads_.front();
      const RankedJob taken = last.job;
      last.path.pop_back();
      descend_to_last(last, order_.left_[taken.slot]);
      if (last.path.empty()) {
        std::pop_heap(heads_.begin(), heads_.end(), before);
        heads_.pop_back();
      } else if (heads_.size() > 1) {
        sift_down();
      }
      return taken;
    }

   private:
    struct Head {
      RankedJob job;  // last job of its tree that is not yet returned
      double per_us;
      std::vector<int32_t> path;  // slots whose left subtree is not yet visited
    };
    static bool before(const Head& a, const Head& b) { return a.job.key < b.job.key; }

    void descend_to_last(Head& head, int32_t from) const {
      for (int32_t i = from; i != kNone; i = order_.right_[i]) head.path.push_back(i);
      if (head.path.empty()) return;
      const int32_t slot = head.path.back();
      const LinearDecrease line{order_.at_zero_[slot], head.per_us};
      head.job = {{line.at(now_us_), order_.serial_[slot]}, slot};
    }

    // Restores the heap after the key of its front fell.
    void sift_down() {
      for (size_t i = 0;;) {
        size_t child = 2 * i + 1;
        if (child >= heads_.size()) return;
        if (child + 1 < heads_.size() && before(heads_[child], heads_[child + 1])) ++child;
        if (!before(heads_[i], heads_[child])) return;
        std::swap(heads_[i], heads_[child]);
        i = child;
      }
    }

    const LinearKeyTreap& order_;
    int64_t now_us_;
    std::vector<Head> heads_;  // heads, one per tree, as a heap with the last job in order in front
  };

 private:
  bool before(int32_t a, int32_t b) const {
    const Key x{at_zero_[a], serial_[a]}, y{at_zero_[b], serial_[b]};
    return x < y || (!(y < x) && a < b);
  }

  // Hashes a slot to a treap priority; no two are equal. (2654435769 is 2^32 over the golden ratio:
  // Knuth, TAOCP 3.)
  static uint32_t priority(int32_t slot) {
    uint32_t x = static_cast<uint32_t>(slot) * 2654435769u;
    x ^= x >> 15;
    return x * 2246822519u;
  }

  int32_t* child(int32_t i, int32_t slot) { return before(slot, i) ? &left_[i] : &right_[i]; }

  // Splits a tree into the slots before `slot` and those after it.
  void split(int32_t i, int32_t slot, int32_t& before_it, int32_t& after_it) {
    int32_t *low = &before_it, *high = &after_it;
    while (i != kNone) {
      if (before(slot, i)) {
        *high = i;
        high = &left_[i];
        i = left_[i];
      } else {
        *low = i;
        low = &right_[i];
        i = right_[i];
      }
    }
    *low = *high = kNone;
  }

  // Returns the root of both trees. Requires: all of `a` comes before all of `b`.
  int32_t merge(int32_t a, int32_t b) {
    int32_t root = kNone;
    int32_t* at = &root;
    while (a != kNone && b != kNone) {
      if (priority(a) > priority(b)) {
        *at = a;
        at = &right_[a];
        a = right_[a];
      } else {
        *at = b;
        at = &left_[b];
        b = left_[b];
      }
    }
    *at = a == kNone ? b : a;
    return root;
  }

  void set_tree_index_of_subtree(int32_t i, int32_t tree) {
    if (i == kNone) return;
    tree_[i] = tree;
    set_tree_index_of_subtree(left_[i], tree);
    set_tree_index_of_subtree(right_[i], tree);
  }

  double* at_zero_;     // (S)
  double* per_us_;      // (S)  by tree
  int32_t* serial_;     // (S)
  int32_t* left_;       // (S)
  int32_t* right_;      // (S)
  int32_t* tree_;       // (S)  1 + index of the job's tree, 0 for none
  int32_t* root_;       // (S)  by tree
  int32_t* num_trees_;  // (1)
};

}  // namespace yard
